// The player's actions: numbered for the zone, kept until they are answered.

/** The most actions that are out at once. */
export const UNANSWERED_MAX = 64;

/** An action that was taken and not answered. */
export interface Unanswered {
  /** The action's name for the owner. It stays when a full stop changes the number. */
  readonly id: number;
  number: number;
  readonly action: Uint8Array;
  readonly wanted: number;
}

export class Actions {
  /** The number of the next action. */
  next = 1;
  /** Results up to this number have arrived. */
  acked = 0;
  /** In the order of their numbers. */
  readonly unanswered: Unanswered[] = [];
  private lastId = 0;

  /** Whether the zone would let a further action wait. */
  get isFull(): boolean {
    return UNANSWERED_MAX <= this.unanswered.length;
  }

  /** Takes an action that is wanted now. */
  take(action: Uint8Array, wanted: number): Unanswered {
    const taken = { id: ++this.lastId, number: this.next++, action, wanted };
    this.unanswered.push(taken);
    return taken;
  }

  /**
   * Goes on counting where the zone does. Earlier sessions of the player may have acted; or the world has lost its last
   * moments in a full stop, and with them actions whose results the player heard.
   */
  goOnFrom(cursor: number): void {
    const first = this.unanswered[0]?.number ?? Infinity;
    if (first <= cursor + 1) return;
    this.unanswered.forEach((it, index) => (it.number = cursor + 1 + index));
    this.next = cursor + 1 + this.unanswered.length;
    this.acked = cursor;
  }

  /** Takes out the action of this number, if it is unanswered. */
  answer(number: number): Unanswered | undefined {
    const place = this.unanswered.findIndex((it) => it.number === number);
    if (place < 0) return undefined;
    const [answered] = this.unanswered.splice(place, 1);
    const first = this.unanswered[0]?.number ?? this.next;
    this.acked = Math.max(this.acked, first - 1);
    return answered;
  }
}
