// Particles (sparks, smoke, rings): a pool of short-lived sprites.

import { Container, Sprite, type Texture } from "pixi.js";
import { UNIT } from "../art/draw.ts";
import { EMBER, GOLD } from "../art/palette.ts";
import type { Textures } from "../art/textures.ts";

/** The most particles at one time: a new one replaces the oldest. */
const PARTICLES_MAX = 700;

interface Particle {
  sprite: Sprite;
  vx: number;
  vy: number;
  age: number;
  life: number;
  from: number;
  to: number;
  alpha: number;
  drag: number;
}

interface Birth {
  texture: Texture;
  x: number;
  y: number;
  vx?: number;
  vy?: number;
  life: number;
  /** Sizes in metres. */
  from: number;
  to: number;
  tint: number;
  alpha: number;
  drag?: number;
}

export class Effects extends Container {
  private readonly textures: Textures;
  private readonly particles: Particle[] = [];
  private next = 0;

  constructor(textures: Textures) {
    super();
    this.textures = textures;
  }

  update(passed: number): void {
    const seconds = passed / 1000;
    for (const it of this.particles) {
      if (it.life <= it.age) continue;
      it.age += passed;
      const part = Math.min(1, it.age / it.life);
      const drag = Math.exp(-it.drag * seconds);
      it.vx *= drag;
      it.vy *= drag;
      const { sprite } = it;
      sprite.x += it.vx * seconds * UNIT;
      sprite.y -= it.vy * seconds * UNIT;
      sprite.alpha = it.alpha * (1 - part) * (1 - part);
      sprite.scale.set(((it.from + (it.to - it.from) * Math.sqrt(part)) * UNIT) / sprite.texture.width);
      sprite.visible = part < 1;
    }
  }

  /** A rocket explodes with a radius of `reach` m. */
  blast(x: number, y: number, reach: number): void {
    const { glow, ring, spark } = this.textures;
    this.born({ texture: glow, x, y, life: 520, from: reach * 2.4, to: reach * 3, tint: EMBER, alpha: 0.95 });
    this.born({ texture: glow, x, y, life: 190, from: reach * 1.6, to: reach * 0.8, tint: 0xffffff, alpha: 1 });
    this.born({ texture: ring, x, y, life: 480, from: 0.6, to: reach * 2.1, tint: GOLD, alpha: 0.8 });
    for (let count = 0; count < 34; count++) {
      const [angle, speed] = [Math.random() * 7, 3 + Math.random() * 17];
      const [vx, vy] = [Math.cos(angle) * speed, Math.sin(angle) * speed];
      const tint = [GOLD, EMBER, 0xfff1d6][count % 3] ?? GOLD;
      this.born({ texture: spark, x, y, vx, vy, life: 350 + Math.random() * 500, from: 0.34, to: 0.04, tint, alpha: 1, drag: 3.2 });
    }
    for (let count = 0; count < 9; count++) {
      const [angle, speed] = [Math.random() * 7, 0.6 + Math.random() * 2.4];
      const [vx, vy] = [Math.cos(angle) * speed, Math.sin(angle) * speed];
      this.born({ texture: glow, x, y, vx, vy, life: 900 + Math.random() * 700, from: 1.2, to: 3.6, tint: 0x2a2f3d, alpha: 0.4, drag: 1.2 });
    }
  }

  /** A puff of smoke behind a rocket, every few metres. */
  trail(x: number, y: number): void {
    const { spark, glow } = this.textures;
    const jitter = (): number => (Math.random() - 0.5) * 0.25;
    this.born({ texture: spark, x: x + jitter(), y: y + jitter(), life: 320, from: 0.5, to: 0.08, tint: EMBER, alpha: 0.8 });
    this.born({ texture: glow, x: x + jitter(), y: y + jitter(), life: 600, from: 0.5, to: 1.4, tint: 0x8b93a8, alpha: 0.13 });
  }

  /** A puff of a player's colour: when hit, when rising again, when taking an item. */
  puff(x: number, y: number, tint: number, count = 12): void {
    this.born({ texture: this.textures.ring, x, y, life: 380, from: 0.5, to: 3, tint, alpha: 0.7 });
    for (let index = 0; index < count; index++) {
      const [angle, speed] = [Math.random() * 7, 1 + Math.random() * 5];
      const [vx, vy] = [Math.cos(angle) * speed, Math.sin(angle) * speed];
      this.born({ texture: this.textures.spark, x, y, vx, vy, life: 300 + Math.random() * 350, from: 0.26, to: 0.04, tint, alpha: 0.95, drag: 3 });
    }
  }

  muzzle(x: number, y: number): void {
    this.born({ texture: this.textures.glow, x, y, life: 140, from: 2.6, to: 1, tint: GOLD, alpha: 0.9 });
  }

  private born({ texture, x, y, vx = 0, vy = 0, life, from, to, tint, alpha, drag = 0 }: Birth): void {
    const it = this.take();
    Object.assign(it, { vx, vy, age: 0, life, from, to, alpha, drag });
    it.sprite.texture = texture;
    it.sprite.position.set(x * UNIT, -y * UNIT);
    it.sprite.tint = tint;
    it.sprite.alpha = alpha;
    it.sprite.scale.set((from * UNIT) / texture.width);
    it.sprite.visible = true;
    // Smoke darkens, fire lights up.
    it.sprite.blendMode = tint === 0x2a2f3d ? "normal" : "add";
  }

  /** Round robin: the next particle is the oldest, and has usually ended. */
  private take(): Particle {
    const known = this.particles[this.next];
    if (known !== undefined && (known.life <= known.age || this.particles.length === PARTICLES_MAX)) {
      this.next = (this.next + 1) % this.particles.length;
      return known;
    }
    const sprite = this.addChild(new Sprite({ anchor: 0.5, visible: false }));
    const made = { sprite, vx: 0, vy: 0, age: 1, life: 0, from: 1, to: 1, alpha: 1, drag: 0 };
    this.particles.push(made);
    return made;
  }
}
