// The home: the replica that the player believes, and the last record of its zone that the player has received.

import { type Key, keyOf } from "../object.ts";
import type { LastRecord, ToPlayer } from "../protocol.ts";
import type { Peer } from "./links.ts";

export class Home {
  peer: Peer | null = null;
  /** The home's zone; it stays the same during a search. */
  zone = 0;
  /** Time of the last message from the home. */
  heard = 0;
  /** True if the zone has lost records that the player has received. */
  mayKnowLess = false;
  /** Time of the last message before a silence that was forgiven. */
  private forgiven: number | null = null;
  /** The highest epoch known of each zone. */
  private readonly epochs = new Map<number, number>();
  /** The epoch in which the home let the player in. */
  private entered = 0;
  /** Number of owners of the avatar so far: an earlier one is not believed. */
  private incarnation = 0;
  /** The last record received. */
  private index = 0;

  /** The highest known epoch of the home's zone. */
  get epoch(): number {
    return this.epochOf(this.zone);
  }

  private epochOf(zone: number): number {
    return this.epochs.get(zone) ?? 0;
  }

  /**
   * True if a message must be ignored. Only the home may tell what happens, in the epoch in which it let the player in or a
   * later one; another replica may only let the player in, and not in an epoch that is over.
   */
  isStale(from: Peer, zone: number, epoch: number, message: ToPlayer, me: Key | null): boolean {
    switch (message.kind) {
      case "Entered": {
        const isEarlier = me === keyOf(message.avatar) && message.incarnation < this.incarnation;
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

  /** A believed replica sent a message in this epoch. */
  raiseEpoch(zone: number, epoch: number): void {
    this.epochs.set(zone, Math.max(this.epochOf(zone), epoch));
  }

  /** A zone lets the player in. Records of another zone, and records after a loss, are counted from the start. */
  enter(zone: number, epoch: number, incarnation: number, lost: boolean): void {
    if (lost || this.zone !== zone) this.index = 0;
    [this.zone, this.entered, this.incarnation, this.mayKnowLess] = [zone, epoch, incarnation, lost];
  }

  /** Forgives a silence. Returns false if the same silence was forgiven before. */
  forgive(): boolean {
    const isNew = this.forgiven !== this.heard;
    this.forgiven = this.heard;
    return isNew;
  }

  /** The last record received, so that a new home sends the ones missed since. */
  get seen(): LastRecord | null {
    return 0 < this.index ? { zone: this.zone, epoch: this.epoch, index: this.index } : null;
  }

  see(index: number): void {
    this.index = Math.max(this.index, index);
  }

  /**
   * True if the notices of this record are new. After a change of home, records are sent again; those of a neighbour have
   * no number here, and are not sent again.
   */
  isNews(index: number): boolean {
    return this.index < index || index === 0;
  }
}
