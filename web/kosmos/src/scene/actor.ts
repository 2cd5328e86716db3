// The sprites of one object on the screen. Equal looks share textures; sprites of objects that left are reused.

import { Container, Sprite } from "pixi.js";
import { UNIT } from "../art/draw.ts";
import { EMBER, GOLD, ROSE, colourOf } from "../art/palette.ts";
import type { Textures } from "../art/textures.ts";
import { type KosmosObject, type Shown, personOf } from "../game/kosmos.ts";

/** The kind of sprites that an object needs. Objects of one kind can reuse each other's sprites. */
export type Kind = "avatar" | "rocket" | "item" | "npc" | "nest";

export function kindOf(shown: Shown): Kind | null {
  switch (shown.kind) {
    case "Me":
    case "Avatar":
      return "avatar";
    case "Rocket":
      return "rocket";
    case "Item":
      return "item";
    case "Npc":
      return "npc";
    case "Nest":
      return "nest";
    case "World":
      return null;
  }
}

const FLASH = 260;

export class Actor extends Container {
  readonly kind: Kind;
  private readonly textures: Textures;
  private readonly glow: Sprite;
  private readonly body: Sprite;
  private readonly gear: Sprite | null = null;
  private tintOf = 0xffffff;
  private changes = -1;
  private flashing = 0;
  private dead = false;
  /** Metres since the last puff of smoke. */
  travelled = 0;

  constructor(kind: Kind, textures: Textures) {
    super();
    this.kind = kind;
    this.textures = textures;
    this.glow = new Sprite({ texture: textures.glow, anchor: 0.5, blendMode: "add" });
    this.body = new Sprite(kind === "avatar" ? textures.body : textures.rocket);
    this.addChild(this.glow, this.body);
    if (kind === "avatar") this.gear = this.addChild(new Sprite(textures.gear));
  }

  /** Draws another object from now on. */
  begin(): void {
    this.changes = -1;
    this.flashing = 0;
    this.travelled = 0;
    this.alpha = 1;
    this.visible = true;
  }

  flash(): void {
    this.flashing = FLASH;
  }

  update(thing: KosmosObject, isMe: boolean, now: number, passed: number): void {
    if (this.changes !== thing.changes) {
      this.changes = thing.changes;
      this.look(thing.shown, isMe);
    }
    const { track } = thing;
    this.position.set((track.x / 1000) * UNIT, (-track.y / 1000) * UNIT);
    this.visible = track.hasBegun;
    if (this.kind === "item") this.hover(now, thing.object.counter);
    else if (this.kind !== "nest" && !this.dead) this.turn(-track.angle);
    if (0 < this.flashing) {
      this.flashing -= passed;
      this.body.tint = 0 < this.flashing && Math.floor(this.flashing / 65) % 2 === 0 ? 0xffffff : this.flashTint();
    }
    if (this.kind === "rocket") this.glow.alpha = 0.75 + 0.25 * Math.sin(now / 30);
  }

  private flashTint(): number {
    return 0 < this.flashing ? ROSE : this.tintOf;
  }

  private turn(rotation: number): void {
    this.body.rotation = rotation;
    if (this.gear !== null) this.gear.rotation = rotation;
  }

  /** Items float, each in its own time, and their light breathes. */
  private hover(now: number, seed: number): void {
    const wave = Math.sin(now / 480 + seed * 1.7);
    this.body.y = -4 + wave * 2.4;
    this.glow.alpha = 0.5 + 0.18 * wave;
  }

  private look(shown: Shown, isMe: boolean): void {
    switch (this.kind) {
      case "avatar":
        return this.lookAvatar(shown, isMe);
      case "rocket":
        return this.shine(EMBER, 2.6, 0.9);
      case "item":
        if (shown.kind === "Item") this.wear(this.textures.item[shown.value.kind], 0.82);
        return this.shine(GOLD, 3, 0.5);
      case "npc":
        if (shown.kind === "Npc") this.wear(this.textures.npc[shown.value.kind.kind], 1.15);
        return this.shine(0xffffff, 0, 0);
      case "nest":
        if (shown.kind === "Nest") this.wear(this.textures.nest[shown.value.kind], 1);
        return this.shine(0xffe3b0, 2.2, 0.22);
    }
  }

  private lookAvatar(shown: Shown, isMe: boolean): void {
    const person = personOf(shown);
    if (person === null || this.gear === null) return;
    this.dead = person.health === 0;
    this.tintOf = this.dead ? 0x9aa3b5 : colourOf(person.name);
    this.wear(this.dead ? this.textures.fallen : this.textures.body, 1);
    this.body.tint = this.tintOf;
    if (this.dead) this.body.rotation = 0;
    this.gear.visible = !this.dead;
    this.shine(this.tintOf, isMe ? 6.5 : 4.2, this.dead ? 0.12 : isMe ? 0.5 : 0.34);
  }

  private wear(texture: Sprite["texture"], scale: number): void {
    this.body.texture = texture;
    if (texture.defaultAnchor !== undefined) this.body.anchor.copyFrom(texture.defaultAnchor);
    this.body.scale.set(scale);
  }

  private shine(tint: number, metres: number, alpha: number): void {
    this.glow.tint = tint;
    this.glow.alpha = alpha;
    this.glow.visible = 0 < alpha;
    this.glow.scale.set((metres * UNIT) / this.textures.glow.width);
  }
}
