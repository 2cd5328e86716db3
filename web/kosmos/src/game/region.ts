// The shapes of the world and of its zones: convex, their corners counterclockwise.

export type Corner = [number, number];

export interface Zone {
  zone: number;
  corners: Corner[];
}

/** The sides that zones share with other zones, not with the edge of the world. Each appears once per zone. */
export function innerEdges(world: Corner[], zones: Zone[]): { zone: number; edge: [Corner, Corner] }[] {
  return zones.flatMap(({ zone, corners }) => {
    const edges = corners.map((from, index): [Corner, Corner] => [from, corners[(index + 1) % corners.length] as Corner]);
    const isInner = ([[ax, ay], [bx, by]]: [Corner, Corner]): boolean => EDGE < depth(world, (ax + bx) / 2, (ay + by) / 2);
    return edges.filter(isInner).map((edge) => ({ zone, edge }));
  });
}

/** Farther inside than this is not the edge, in metres: corners are rounded. */
const EDGE = 0.01;
/** Distance between two zone names along a border, metres. */
const SIGN_EVERY = 25;
/** Distance of a name from its border, x and y, metres: names are wider than they are high. */
const SIGN_ASIDE = 3.6;
const SIGN_ABOVE = 1.3;

/** The places of zone names: along the borders, a little inside. Metres. */
export function signs(world: Corner[], zones: Zone[]): { zone: number; at: Corner }[] {
  return innerEdges(world, zones).flatMap(({ zone, edge: [[ax, ay], [bx, by]] }) => {
    const [dx, dy] = [bx - ax, by - ay];
    const length = Math.hypot(dx, dy);
    // Corners are counterclockwise, so the zone lies to the left of its sides.
    const [left, up] = [(-dy / length) * SIGN_ASIDE, (dx / length) * SIGN_ABOVE];
    const count = Math.max(1, Math.round(length / SIGN_EVERY));
    return Array.from({ length: count }, (_, index): { zone: number; at: Corner } => {
      const part = (index + 0.5) / count;
      return { zone, at: [ax + dx * part + left, ay + dy * part + up] };
    });
  });
}

/** Distance of a place from the nearest edge of the world, in the corners' unit; negative outside. */
export function depth(corners: Corner[], x: number, y: number): number {
  let least = Infinity;
  corners.forEach(([ax, ay], index) => {
    const [bx, by] = corners[(index + 1) % corners.length] as Corner;
    const [dx, dy] = [bx - ax, by - ay];
    least = Math.min(least, (dx * (y - ay) - dy * (x - ax)) / Math.hypot(dx, dy));
  });
  return least;
}
