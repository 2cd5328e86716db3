// The screen of a player who waits because the world is full.

import type { QueuePlace } from "@ecumene/client";
import { ordinal } from "../game/texts.ts";
import { $, el } from "./dom.ts";

const TITLE = document.title;

/** The card with the place in the queue. It appears with the first place, and disappears at the end of the wait. */
export class WaitingScreen {
  private readonly screen = $("waiting");
  /** The place at the beginning, which the bar starts from. */
  private first: number | null = null;

  /** Shows a place. */
  show({ place, waiting }: QueuePlace): void {
    this.first = Math.max(place, this.first ?? place);
    const text = ["You are ", el("b", {}, ordinal(place)), ` of ${waiting} in the queue.`];
    $("waiting-text").replaceChildren(...text);
    const bar = $("waiting-bar").firstElementChild as HTMLElement;
    bar.style.transform = `scaleX(${(this.first - place + 1) / (this.first + 1)})`;
    // Players who wait look at other pages meanwhile.
    document.title = `${ordinal(place)} in the queue · ${TITLE}`;
    this.screen.hidden = false;
  }

  /** The wait is over, whatever ended it. */
  hide(): void {
    [this.first, this.screen.hidden, document.title] = [null, true, TITLE];
  }

  /** A signal that aborts when the player gives up waiting. */
  giveUp(): AbortSignal {
    const wait = new AbortController();
    $("waiting-cancel").onclick = () => wait.abort();
    return wait.signal;
  }
}
