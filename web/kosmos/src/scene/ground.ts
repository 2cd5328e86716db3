// The ground: a meadow at night, a faint grid, plants and stones, and the edge of the world.

import { Container, Graphics, Sprite, type Texture, TilingSprite } from "pixi.js";
import { UNIT } from "../art/draw.ts";
import { INK, SKY } from "../art/palette.ts";
import type { Textures } from "../art/textures.ts";
import { type Corner, depth } from "../game/region.ts";
import type { Camera } from "./camera.ts";

/** Metres that one tile of ground covers. */
const TILE = 26;
/** Side of a cell, m; about every cell has a plant or a stone. */
const CELL = 4.5;
/** Distance between grid lines, m. */
const GRID = 20;
/** Width of the darkness around the world, m. */
const OUTSIDE = 400;

export class Ground extends Container {
  private readonly tiles: TilingSprite;
  private readonly decor = new Container();
  private readonly pool: Sprite[] = [];
  private readonly textures: Texture[];
  private readonly edge = new Graphics();
  private cells = "";
  private corners: Corner[] = [];

  constructor(textures: Textures) {
    super();
    this.textures = textures.decor;
    this.tiles = new TilingSprite({ texture: textures.ground, width: 1, height: 1 });
    this.tiles.tileScale.set((TILE * UNIT) / textures.ground.width);
    this.addChild(this.tiles, this.edge, this.decor);
  }

  /** The corners of the world, m. */
  setRegion(corners: Corner[]): void {
    this.corners = corners;
    this.cells = "";
    const points = corners.flatMap(([x, y]) => [x * UNIT, -y * UNIT]);
    const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
    const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const edge = this.edge.clear();
    for (let x = Math.ceil(west / GRID) * GRID; x <= east; x += GRID) edge.moveTo(x * UNIT, -north * UNIT).lineTo(x * UNIT, -south * UNIT);
    for (let y = Math.ceil(south / GRID) * GRID; y <= north; y += GRID) edge.moveTo(west * UNIT, -y * UNIT).lineTo(east * UNIT, -y * UNIT);
    edge.stroke({ width: 1.4, color: 0xbfd4ff, alpha: 0.06 });
    const far = OUTSIDE * UNIT;
    edge.rect(west * UNIT - far, -north * UNIT - far, (east - west) * UNIT + 2 * far, (north - south) * UNIT + 2 * far);
    edge.fill({ color: INK, alpha: 0.9 }).poly(points).cut();
    for (const [width, alpha] of [[46, 0.05], [24, 0.09], [10, 0.2], [3, 0.9]] as const) {
      edge.poly(points).stroke({ width, color: SKY, alpha, join: "round" });
    }
  }

  update(camera: Camera): void {
    const [wide, high] = [camera.width / camera.zoom / 2 + 3, camera.height / camera.zoom / 2 + 3];
    const [x, y] = [camera.x - wide, camera.y + high];
    this.tiles.position.set(x * UNIT, -y * UNIT);
    this.tiles.setSize(2 * wide * UNIT, 2 * high * UNIT);
    this.tiles.tilePosition.set(-x * UNIT, y * UNIT);
    const cells = [camera.x - wide, camera.x + wide, camera.y - high, camera.y + high].map((it) => Math.floor(it / CELL));
    const name = cells.join();
    if (name === this.cells) return;
    this.cells = name;
    this.grow(cells as [number, number, number, number]);
  }

  /** Puts plants and stones into the visible cells: always the same ones in the same cell. */
  private grow([west, east, south, north]: [number, number, number, number]): void {
    let used = 0;
    for (let row = north; south <= row; row--) {
      for (let column = west; column <= east; column++) {
        const draw = hash(column, row);
        const isBare = draw % 100 < 38 || depth(this.corners, (column + 0.5) * CELL, (row + 0.5) * CELL) < CELL;
        if (isBare) continue;
        const sprite = (this.pool[used] ??= this.decor.addChild(new Sprite()));
        used++;
        this.plant(sprite, column, row, draw);
      }
    }
    for (let index = used; index < this.pool.length; index++) (this.pool[index] as Sprite).visible = false;
  }

  private plant(sprite: Sprite, column: number, row: number, draw: number): void {
    const kind = draw % 100 < 86 ? 0 : draw % 100 < 93 ? 1 : 2;
    sprite.texture = this.textures[kind] as Texture;
    sprite.anchor.set(0.5, 1);
    const [dx, dy] = [((draw >>> 8) % 97) / 97, ((draw >>> 16) % 89) / 89];
    sprite.position.set((column + dx) * CELL * UNIT, -(row + dy) * CELL * UNIT);
    sprite.scale.set((0.65 + ((draw >>> 4) % 60) / 100) * ((draw & 16) === 0 ? 1 : -1), 0.65 + ((draw >>> 4) % 60) / 100);
    sprite.alpha = 0.9;
    sprite.visible = true;
  }
}

function hash(x: number, y: number): number {
  let mixed = Math.imul(x * 374761393 + y * 668265263, 1274126177);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 1103515245);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
