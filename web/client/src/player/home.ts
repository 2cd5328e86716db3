// The replica that the player believes, and how much of its zone's records the player has heard.

import { type Key, keyOf } from "../object.ts";
import type { Down, Seen } from "../protocol.ts";
import type { Peer } from "./links.ts";

export class Home {
  peer: Peer | null = null;
  /** Stays while the zone's replica is being looked for. */
  zone = 0;
  /** When the home was heard last. */
  heard = 0;
  /** Whether the zone has lost some of what the player has seen. */
  mayKnowLess = false;
  /** When the home was heard last before a silence that was forgiven. */
  private forgiven: number | null = null;
  /** The highest epoch heard of, per zone. */
  private readonly epochs = new Map<number, number>();
  /** The epoch in which the home let the player in. */
  private entered = 0;
  /** Number of owners the avatar has had: an earlier owner is not believed. */
  private incarnation = 0;
  /** The last record heard of. */
  private index = 0;

  /** The highest epoch of the home's zone heard. */
  get epoch(): number {
    return this.epochOf(this.zone);
  }

  private epochOf(zone: number): number {
    return this.epochs.get(zone) ?? 0;
  }

  /**
   * Whether this must not be believed. Only the home tells what happens, in the epoch in which it let the player in or a
   * later one; other replicas may only offer themselves, and not in an epoch that is over.
   */
  isStale(from: Peer, zone: number, epoch: number, down: Down, me: Key | null): boolean {
    switch (down.kind) {
      case "Entered": {
        const isEarlier = me === keyOf(down.avatar) && down.incarnation < this.incarnation;
        return epoch < this.epochOf(zone) || isEarlier;
      }
      case "Closed":
        return epoch < this.epochOf(zone);
      case "NotHere":
        return false;
      default:
        // Datagrams overtake, so the home's own epochs may be heard out of order.
        return this.peer !== from || epoch < this.entered;
    }
  }

  /** A replica that is believed speaks in this epoch. */
  raiseEpoch(zone: number, epoch: number): void {
    this.epochs.set(zone, Math.max(this.epochOf(zone), epoch));
  }

  /** A zone lets the player in. Records of another zone, and those after a loss, are counted anew. */
  enter(zone: number, epoch: number, incarnation: number, lost: boolean): void {
    if (lost || this.zone !== zone) this.index = 0;
    [this.zone, this.entered, this.incarnation, this.mayKnowLess] = [zone, epoch, incarnation, lost];
  }

  /** Forgives a silence. Gives false for one that was forgiven before. */
  forgive(): boolean {
    const isNew = this.forgiven !== this.heard;
    this.forgiven = this.heard;
    return isNew;
  }

  /** The last record heard of, to hear what was missed since. */
  get seen(): Seen | null {
    return 0 < this.index ? { zone: this.zone, epoch: this.epoch, index: this.index } : null;
  }

  see(index: number): void {
    this.index = Math.max(this.index, index);
  }

  /**
   * Whether the notices of this record were not told before. After a switch, records are told again; those of a
   * neighbour have no number here, and are not told again.
   */
  isNews(index: number): boolean {
    return this.index < index || index === 0;
  }
}
