// Names and health above avatars: the same size at every zoom.

import { BitmapText, Container, Sprite, Texture } from "pixi.js";
import { GOLD, MINT, ROSE, TEXT } from "../art/palette.ts";
import { AVATAR_HEALTH, NPC_HEALTH } from "../game/rules.ts";
import type { Shown } from "../game/kosmos.ts";

const WIDTH = 46;
const HEIGHT = 4;

export class Label extends Container {
  private readonly text = new BitmapText({
    text: "",
    anchor: { x: 0.5, y: 1 },
    style: { fontFamily: "system-ui, sans-serif", fontSize: 13, fontWeight: "600", fill: 0xffffff },
  });
  private readonly back = new Sprite({ texture: Texture.WHITE, tint: 0x000000, alpha: 0.55 });
  private readonly bar = new Sprite({ texture: Texture.WHITE });
  private changes = -1;

  constructor() {
    super();
    this.back.position.set(-WIDTH / 2 - 1, 1);
    this.back.setSize(WIDTH + 2, HEIGHT + 2);
    this.bar.position.set(-WIDTH / 2, 2);
    this.text.y = -2;
    this.addChild(this.back, this.bar, this.text);
  }

  begin(): void {
    this.changes = -1;
    this.visible = true;
  }

  update(shown: Shown, changes: number): void {
    if (this.changes === changes) return;
    this.changes = changes;
    if (shown.kind === "Npc") return this.show("", shown.value.health / NPC_HEALTH, shown.value.health < NPC_HEALTH, TEXT);
    if (shown.kind === "Me") return this.show(shown.value.name, shown.value.health / AVATAR_HEALTH, 0 < shown.value.health, GOLD);
    if (shown.kind === "Avatar") return this.show(shown.name, shown.health / AVATAR_HEALTH, 0 < shown.health, TEXT);
  }

  private show(name: string, health: number, hasBar: boolean, tint: number): void {
    if (this.text.text !== name) this.text.text = name;
    this.text.tint = tint;
    this.back.visible = this.bar.visible = hasBar;
    this.bar.setSize(Math.max(1, WIDTH * health), HEIGHT);
    this.bar.tint = health < 0.34 ? ROSE : health < 0.67 ? GOLD : MINT;
  }
}
