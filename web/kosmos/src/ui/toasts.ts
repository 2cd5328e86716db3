// Short messages that disappear by themselves: toasts below, the feed above.

import { $, el, vanish } from "./dom.ts";

const TOASTS_MAX = 3;
const FEED_MAX = 5;

export function toast(text: string): void {
  const box = $("toasts");
  // A repeated message replaces its predecessor.
  if (box.lastElementChild?.textContent === text) box.lastElementChild.remove();
  add(box, el("div", {}, text), TOASTS_MAX, 2_400);
}

/** Adds a line to the feed; the names in `who` are highlighted. */
export function feed(...parts: (string | { who: string })[]): void {
  const children = parts.map((part) => (typeof part === "string" ? part : el("b", {}, part.who)));
  add($("feed"), el("div", {}, ...children), FEED_MAX, 5_500);
}

function add(box: HTMLElement, line: HTMLElement, most: number, after: number): void {
  box.append(line);
  while (most < box.childElementCount) box.firstElementChild?.remove();
  vanish(line, after);
}
