// Chat: the log, the input line, and speech bubbles over heads.

import type { Camera } from "../scene/camera.ts";
import { cssColour, colourOf } from "../art/palette.ts";
import { $, el, vanish } from "./dom.ts";

const LINES_MAX = 7;
const OLD_AFTER = 9_000;
const BUBBLE_FOR = 5_500;

interface Bubble {
  element: HTMLElement;
  /** Position of the speaker, m; null if out of sight. */
  place: () => { x: number; y: number } | null;
}

export class Chat {
  private readonly log = $("chat-log");
  private readonly form = $<HTMLFormElement>("chat-form");
  private readonly input = $<HTMLInputElement>("chat-input");
  private readonly bubbles = new Map<string, Bubble>();

  /** Listens until `signal` aborts at the end of the visit. */
  constructor(say: (text: string) => void, signal: AbortSignal) {
    const submit = (event: Event): void => {
      event.preventDefault();
      const text = this.input.value.trim();
      if (text !== "") say(text);
      this.close();
    };
    this.form.addEventListener("submit", submit, { signal });
    this.input.addEventListener("keydown", (event) => event.key === "Escape" && this.close(), { signal });
    this.input.addEventListener("blur", () => this.close(), { signal });
  }

  open(): void {
    this.form.hidden = false;
    this.input.focus();
  }

  private close(): void {
    this.input.value = "";
    this.form.hidden = true;
    this.input.blur();
  }

  /** Shows what a player said. */
  hear(key: string, name: string, text: string, place: Bubble["place"]): void {
    const who = el("b", {}, name);
    who.style.color = cssColour(colourOf(name));
    const line = el("div", {}, who, text);
    this.log.append(line);
    while (LINES_MAX < this.log.childElementCount) this.log.firstElementChild?.remove();
    setTimeout(() => line.classList.add("old"), OLD_AFTER);
    this.bubble(key, text, place);
  }

  private bubble(key: string, text: string, place: Bubble["place"]): void {
    this.bubbles.get(key)?.element.remove();
    const element = el("div", { className: "bubble" }, text);
    $("bubbles").append(element);
    const bubble = { element, place };
    this.bubbles.set(key, bubble);
    setTimeout(() => element.classList.add("old"), BUBBLE_FOR);
    vanish(element, BUBBLE_FOR + 600);
    setTimeout(() => this.bubbles.get(key) === bubble && this.bubbles.delete(key), BUBBLE_FOR + 600);
  }

  update(camera: Camera): void {
    for (const { element, place } of this.bubbles.values()) {
      const at = place();
      element.hidden = at === null;
      if (at === null) continue;
      const [x, y] = [camera.screenX(at.x), camera.screenY(at.y + 1) - 30];
      element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-22%, -100%)`;
    }
  }
}
