// The shape of the world: convex, its corners counterclockwise.

export type Corner = [number, number];

/** How far inside of the world a place is, in the corners' unit; negative is outside. */
export function depth(corners: Corner[], x: number, y: number): number {
  let least = Infinity;
  corners.forEach(([ax, ay], index) => {
    const [bx, by] = corners[(index + 1) % corners.length] as Corner;
    const [dx, dy] = [bx - ax, by - ay];
    least = Math.min(least, (dx * (y - ay) - dy * (x - ax)) / Math.hypot(dx, dy));
  });
  return least;
}
