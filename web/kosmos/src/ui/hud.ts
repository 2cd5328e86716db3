// The player's health, score, coins and bag. The page is touched only when one of them changed.

import type { Avatar, ItemName } from "../game/kosmos.ts";
import { AVATAR_HEALTH, BAG_MAX } from "../game/rules.ts";
import { $, el } from "./dom.ts";

export class Hud {
  private readonly slots: HTMLButtonElement[] = [];
  private readonly icons: Record<ItemName, string>;
  private shown: Avatar | null = null;

  constructor(icons: Record<ItemName, string>, drop: (slot: number) => void) {
    this.icons = icons;
    const bag = $("bag");
    bag.replaceChildren();
    for (let slot = 0; slot < BAG_MAX; slot++) {
      const button = el("button", { className: "slot", onclick: () => drop(slot) });
      this.slots.push(button);
      bag.append(button);
    }
    setTimeout(() => $("keys").classList.add("gone"), 14_000);
  }

  update(me: Avatar): void {
    if (this.shown === me) return;
    const before = this.shown;
    this.shown = me;
    $("my-name").textContent = me.name;
    $("my-score").textContent = `${me.score} ★`;
    $("coins").textContent = String(me.coins);
    const fill = $("health-fill");
    fill.style.transform = `scaleX(${me.health / AVATAR_HEALTH})`;
    fill.className = me.health < 34 ? "low" : me.health < 67 ? "mid" : "";
    $("health-text").textContent = String(me.health);
    if (before !== null && me.health < before.health) this.hurt();
    document.body.classList.toggle("dead", me.health === 0);
    this.fill(me);
  }

  hint(text: string): void {
    if ($("hint").textContent !== text) $("hint").textContent = text;
  }

  private fill(me: Avatar): void {
    this.slots.forEach((button, slot) => {
      const item = me.bag[slot];
      button.className = item === undefined ? "slot" : "slot full";
      button.style.backgroundImage = item === undefined ? "" : `url(${this.icons[item.kind.kind]})`;
      button.title = item === undefined ? "" : `${item.kind.kind}: click to drop`;
      button.ariaLabel = item === undefined ? "empty" : `drop ${item.kind.kind}`;
    });
  }

  private hurt(): void {
    const vignette = $("vignette");
    vignette.classList.add("hurt");
    setTimeout(() => vignette.classList.remove("hurt"), 90);
  }
}
