// Predictions: unanswered actions, shown at once and withdrawn when their result arrives.
//
// An overlay is the game's own guess at an action's effect. It never changes the objects in the view: it is drawn over
// them, and removed as soon as the result is known, whichever it is.

import type { Outcome } from "./protocol.ts";

export interface Pending<Action, Overlay> {
  readonly id: number;
  readonly action: Action;
  readonly overlay: Overlay | null;
  /** Time of `act`, ms of the client's own time. */
  readonly asked: number;
}

export class Predictions<Action, Overlay> {
  readonly pending = new Map<number, Pending<Action, Overlay>>();
  private readonly waiting = new Map<number, (outcome: Outcome) => void>();

  /** Keeps an action until its result arrives. */
  add(pending: Pending<Action, Overlay>): Promise<Outcome> {
    this.pending.set(pending.id, pending);
    return new Promise((resolve) => this.waiting.set(pending.id, resolve));
  }

  /** The result of an action arrived. Returns the action, or undefined if it is unknown here. */
  answered(id: number, outcome: Outcome): Pending<Action, Overlay> | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    this.waiting.get(id)?.(outcome);
    this.waiting.delete(id);
    return pending;
  }
}
