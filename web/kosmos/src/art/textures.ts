// The drawings as textures, made once at the start.

import { Container, type Graphics, type Renderer, Texture } from "pixi.js";
import type { ItemName, NpcName } from "../game/kosmos.ts";
import * as draw from "./draw.ts";

export interface Textures {
  body: Texture;
  gear: Texture;
  fallen: Texture;
  rocket: Texture;
  glow: Texture;
  spark: Texture;
  ring: Texture;
  ground: Texture;
  npc: Record<NpcName, Texture>;
  nest: Record<NpcName, Texture>;
  item: Record<ItemName, Texture>;
  decor: Texture[];
  /** Items as images for the page around the canvas. */
  icons: Record<ItemName, string>;
}

/** Twice the size, so that zooming in stays sharp. */
const RESOLUTION = 2;

export function makeTextures(renderer: Renderer): Textures {
  const texture = (graphics: Graphics): Texture => {
    const target = new Container();
    target.addChild(graphics);
    // A drawing turns around the origin of its coordinates, not around the middle of its outline.
    const { x, y, width, height } = target.getLocalBounds();
    const defaultAnchor = { x: -x / width, y: -y / height };
    const made = renderer.generateTexture({ target, resolution: RESOLUTION, antialias: true, defaultAnchor });
    target.destroy({ children: true });
    return made;
  };
  const item: Record<ItemName, Texture> = {
    Sword: texture(draw.sword()),
    Shield: texture(draw.shield()),
    Gem: texture(draw.gem()),
    Map: texture(draw.map()),
    Flask: texture(draw.flask()),
  };
  const icon = (name: ItemName): string => {
    const canvas = renderer.extract.canvas(item[name]) as HTMLCanvasElement;
    return canvas.toDataURL();
  };
  return {
    body: texture(draw.avatarBody()),
    gear: texture(draw.avatarGear()),
    fallen: texture(draw.fallen()),
    rocket: texture(draw.rocket()),
    glow: canvasTexture(128, glow),
    spark: canvasTexture(32, spark),
    ring: canvasTexture(256, ring),
    ground: canvasTexture(512, groundTile),
    npc: { Deer: texture(draw.deer()), Hound: texture(draw.hound()) },
    nest: { Deer: texture(draw.nest(0xf0dfb6)), Hound: texture(draw.nest(0x8f9cc4)) },
    item,
    decor: [texture(draw.tuft()), texture(draw.stone()), texture(draw.flower())],
    icons: { Sword: icon("Sword"), Shield: icon("Shield"), Gem: icon("Gem"), Map: icon("Map"), Flask: icon("Flask") },
  };
}

function canvasTexture(size: number, paint: (context: CanvasRenderingContext2D, size: number) => void): Texture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  if (context !== null) paint(context, size);
  return Texture.from(canvas);
}

function fade(context: CanvasRenderingContext2D, size: number, stops: [number, number][]): void {
  const half = size / 2;
  const gradient = context.createRadialGradient(half, half, 0, half, half, half);
  for (const [at, alpha] of stops) gradient.addColorStop(at, `rgba(255,255,255,${alpha})`);
  context.fillStyle = gradient;
  context.fillRect(0, 0, size, size);
}

function glow(context: CanvasRenderingContext2D, size: number): void {
  fade(context, size, [[0, 0.75], [0.25, 0.38], [0.6, 0.1], [1, 0]]);
}

function spark(context: CanvasRenderingContext2D, size: number): void {
  fade(context, size, [[0, 1], [0.35, 0.9], [1, 0]]);
}

function ring(context: CanvasRenderingContext2D, size: number): void {
  fade(context, size, [[0, 0], [0.7, 0], [0.88, 0.85], [0.94, 0.5], [1, 0]]);
}

/** A tile of dark meadow: soft clouds of two greens and blues, and fine grain. It repeats without seams. */
function groundTile(context: CanvasRenderingContext2D, size: number): void {
  const image = context.createImageData(size, size);
  const layers = [4, 8, 16, 64].map((cells, index) => noise(cells, 77 + index));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const [broad, middle, fine, grain] = layers.map((layer) => layer(x / size, y / size));
      const cloud = 0.5 * (broad ?? 0) + 0.32 * (middle ?? 0) + 0.18 * (fine ?? 0);
      const light = cloud * 0.85 + 0.15 * (grain ?? 0);
      const at = 4 * (y * size + x);
      // Between a bluish and a mossy dark.
      const moss = (broad ?? 0) * 0.6 + (fine ?? 0) * 0.4;
      image.data[at] = 16 + 20 * light + 6 * moss;
      image.data[at + 1] = 26 + 34 * light + 10 * moss;
      image.data[at + 2] = 42 + 34 * light - 14 * moss;
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

/** Smooth noise from 0 to 1 that repeats after 1 in both directions. */
function noise(cells: number, seed: number): (x: number, y: number) => number {
  const corner = (x: number, y: number): number => {
    const mixed = Math.imul(((x % cells) * 374761393 + (y % cells) * 668265263) ^ (seed * 2246822519), 3266489917);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const ease = (t: number): number => t * t * (3 - 2 * t);
  return (x, y) => {
    const [fx, fy] = [x * cells, y * cells];
    const [ix, iy] = [Math.floor(fx), Math.floor(fy)];
    const [tx, ty] = [ease(fx - ix), ease(fy - iy)];
    const top = corner(ix, iy) * (1 - tx) + corner(ix + 1, iy) * tx;
    const low = corner(ix, iy + 1) * (1 - tx) + corner(ix + 1, iy + 1) * tx;
    return top * (1 - ty) + low * ty;
  };
}
