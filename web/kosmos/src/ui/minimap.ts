// The map of the whole world: its edge, the objects in sight, and the player.

import type { WorldInfo } from "@ecumene/client";
import { BORDER as RED, cssColour, colourOf } from "../art/palette.ts";
import { type Kosmos, personOf } from "../game/kosmos.ts";
import { type Corner, innerEdges } from "../game/region.ts";
import { $ } from "./dom.ts";

const BORDER = 14;

export class Minimap {
  private readonly canvas = $<HTMLCanvasElement>("minimap");
  private readonly context = this.canvas.getContext("2d");
  private readonly corners: Corner[];
  private readonly borders: [Corner, Corner][];
  private readonly middle: { x: number; y: number };
  private readonly scale: number;
  private readonly range: number;
  hasBorders = true;

  constructor({ region: corners, range, zones }: WorldInfo) {
    this.corners = corners;
    this.borders = innerEdges(corners, zones).map(({ edge }) => edge);
    this.range = range;
    const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
    const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    this.middle = { x: (west + east) / 2, y: (south + north) / 2 };
    this.scale = (this.canvas.width - 2 * BORDER) / Math.max(east - west, north - south, 1);
  }

  draw(world: Kosmos): void {
    const { context, canvas } = this;
    if (context === null) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    this.path(this.corners);
    context.fillStyle = "rgba(116, 184, 255, 0.06)";
    context.fill();
    context.strokeStyle = "rgba(116, 184, 255, 0.5)";
    context.lineWidth = 2;
    context.stroke();
    if (this.hasBorders) this.lines();
    const own = world.own?.track;
    if (own !== undefined) {
      this.dot(own.x, own.y, this.range * this.scale, "rgba(255, 255, 255, 0.05)");
      for (const thing of world.objects.values()) if (thing.key !== world.me) this.mark(thing);
      this.arrow(own.x, own.y, own.angle);
    }
  }

  private mark({ shown, track }: Kosmos["objects"] extends ReadonlyMap<string, infer T> ? T : never): void {
    const person = personOf(shown);
    if (person !== null) this.dot(track.x, track.y, 6, cssColour(colourOf(person.name)));
    else if (shown.kind === "Item") this.dot(track.x, track.y, 2.8, "rgba(255, 200, 107, 0.75)");
    else if (shown.kind === "Npc") this.dot(track.x, track.y, 2.8, shown.value.kind.kind === "Deer" ? "#c8945a" : "#8d9abf");
  }

  private x(x: number): number {
    return this.canvas.width / 2 + (x - this.middle.x) * this.scale;
  }

  private y(y: number): number {
    return this.canvas.height / 2 - (y - this.middle.y) * this.scale;
  }

  private path(corners: Corner[]): void {
    this.context?.beginPath();
    for (const [x, y] of corners) this.context?.lineTo(this.x(x), this.y(y));
    this.context?.closePath();
  }

  private lines(): void {
    const { context } = this;
    if (context === null) return;
    context.beginPath();
    for (const [from, to] of this.borders) {
      context.moveTo(this.x(from[0]), this.y(from[1]));
      context.lineTo(this.x(to[0]), this.y(to[1]));
    }
    context.strokeStyle = cssColour(RED);
    context.stroke();
  }

  private dot(x: number, y: number, radius: number, colour: string): void {
    if (this.context === null) return;
    this.context.beginPath();
    this.context.arc(this.x(x), this.y(y), radius, 0, 7);
    this.context.fillStyle = colour;
    this.context.fill();
  }

  private arrow(x: number, y: number, angle: number): void {
    const { context } = this;
    if (context === null) return;
    context.save();
    context.translate(this.x(x), this.y(y));
    context.rotate(-angle);
    context.beginPath();
    [[12, 0], [-8, 8], [-4, 0], [-8, -8]].forEach(([px, py]) => context.lineTo(px ?? 0, py ?? 0));
    context.closePath();
    context.fillStyle = "#fff";
    context.shadowColor = "#ffc86b";
    context.shadowBlur = 14;
    context.fill();
    context.restore();
  }
}
