// Borders of zones: bright red lines on the ground, with the zones' names on either side.

import { BitmapText, Container, Graphics } from "pixi.js";
import { UNIT } from "../art/draw.ts";
import { BORDER } from "../art/palette.ts";
import { type Corner, type Zone, innerEdges, signs } from "../game/region.ts";

/** Height of the names, m. */
const LETTERS = 1.3;
/** Names are painted larger and then shrunk, so that they stay sharp when the player zooms in. */
const FONT = 48;

export class Borders extends Container {
  private readonly lines = new Graphics();

  constructor() {
    super();
    this.addChild(this.lines);
  }

  /** The world and its zones, m. */
  setZones(world: Corner[], zones: Zone[]): void {
    this.removeChildren().forEach((child) => child !== this.lines && child.destroy());
    this.addChild(this.lines.clear());
    for (const { edge: [from, to] } of innerEdges(world, zones)) {
      this.lines.moveTo(from[0] * UNIT, -from[1] * UNIT).lineTo(to[0] * UNIT, -to[1] * UNIT);
    }
    this.lines.stroke({ width: 0.25 * UNIT, color: BORDER });
    for (const { zone, at: [x, y] } of signs(world, zones)) {
      const name = new BitmapText({
        text: `zone ${zone}`,
        anchor: 0.5,
        style: { fontFamily: "system-ui, sans-serif", fontSize: FONT, fontWeight: "700", fill: 0xffffff },
      });
      name.tint = BORDER;
      name.scale.set((LETTERS * UNIT) / FONT);
      name.position.set(x * UNIT, -y * UNIT);
      this.addChild(name);
    }
  }
}
