// The player's actions: numbered for the zone, kept until their results arrive.

/** The most actions without a result at one time. */
export const UNANSWERED_MAX = 64;

/** An action without a result so far. */
export interface Unanswered {
  /** The action's id for the caller of `act`. It stays when a full stop changes the number. */
  readonly id: number;
  number: number;
  readonly action: Uint8Array;
  readonly wanted: number;
}

export class Actions {
  /** Number of the next action, from 1. */
  next = 1;
  /** Results up to this number have arrived. */
  acked = 0;
  /** Unanswered actions, in the order of their numbers. */
  readonly unanswered: Unanswered[] = [];
  private lastId = 0;

  /** True if no further action may be sent until one is answered. */
  get isFull(): boolean {
    return UNANSWERED_MAX <= this.unanswered.length;
  }

  /** Numbers a new action and keeps it. */
  take(action: Uint8Array, wanted: number): Unanswered {
    const taken = { id: ++this.lastId, number: this.next++, action, wanted };
    this.unanswered.push(taken);
    return taken;
  }

  /**
   * Continues the numbers from the zone's cursor. Earlier sessions of the player may have acted; or the zone lost its last
   * records in a full stop, and with them actions whose results the player has received.
   */
  renumberFrom(cursor: number): void {
    const first = this.unanswered[0]?.number ?? Infinity;
    if (first <= cursor + 1) return;
    this.unanswered.forEach((it, index) => (it.number = cursor + 1 + index));
    this.next = cursor + 1 + this.unanswered.length;
    this.acked = cursor;
  }

  /** Removes and returns the action of this number, if it is unanswered. */
  answer(number: number): Unanswered | undefined {
    const place = this.unanswered.findIndex((it) => it.number === number);
    if (place < 0) return undefined;
    const [answered] = this.unanswered.splice(place, 1);
    const first = this.unanswered[0]?.number ?? this.next;
    this.acked = Math.max(this.acked, first - 1);
    return answered;
  }
}
