// What the player wants and the zone has not answered: shown at once, taken back when the answer is there.
//
// An overlay is the game's own idea of what will happen. It never changes what is true: it lies over it, and is gone
// as soon as the truth is known, whichever it is.

import type { Outcome } from "./protocol.ts";

export interface Pending<Action, Overlay> {
  readonly id: number;
  readonly action: Action;
  readonly overlay: Overlay | null;
  /** When it was asked, ms of own time. */
  readonly asked: number;
}

export class Predictions<Action, Overlay> {
  readonly pending = new Map<number, Pending<Action, Overlay>>();
  private readonly waiting = new Map<number, (outcome: Outcome) => void>();

  /** Keeps an action until it is answered. */
  add(pending: Pending<Action, Overlay>): Promise<Outcome> {
    this.pending.set(pending.id, pending);
    return new Promise((resolve) => this.waiting.set(pending.id, resolve));
  }

  /** The answer is there. Gives the action, or nothing if it was never asked here. */
  answered(id: number, outcome: Outcome): Pending<Action, Overlay> | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    this.waiting.get(id)?.(outcome);
    this.waiting.delete(id);
    return pending;
  }
}
