// The players in sight, by score.

import { cssColour, colourOf } from "../art/palette.ts";
import { type Kosmos, personOf } from "../game/kosmos.ts";
import { $, el } from "./dom.ts";

const LINES_MAX = 8;
const LINES_MAX_TOUCH = 4;

/** The present list: replacing it during a click would lose the click, so it is replaced only when it changed. */
let written = "";

/** Fills the list; a click on a player calls `choose`. Returns the number of players in sight. */
export function showScores(world: Kosmos, choose: (key: string) => void): number {
  const people: { key: string; name: string; score: number }[] = [];
  for (const { key, shown } of world.objects.values()) {
    const person = personOf(shown);
    if (person !== null) people.push({ key, name: person.name, score: person.score });
  }
  people.sort((one, other) => other.score - one.score || one.name.localeCompare(other.name));
  const most = document.body.classList.contains("touching") ? LINES_MAX_TOUCH : LINES_MAX;
  const text = JSON.stringify([people.slice(0, most), world.me]);
  if (text === written) return people.length;
  written = text;
  const lines = people.slice(0, most).map(({ key, name, score }) => {
    const who = el("span", {}, name);
    who.style.color = key === world.me ? "" : cssColour(colourOf(name));
    const line = el("li", { className: key === world.me ? "me" : "" }, who, el("span", {}, String(score)));
    if (key !== world.me) line.addEventListener("click", () => choose(key));
    return line;
  });
  $("scores").replaceChildren(...lines);
  return people.length;
}
