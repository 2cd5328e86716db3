// The replicas on the line, and which zone each is of, as far as it has said so.

import type { Address } from "../protocol.ts";

/** A replica, as a map's key: `host:zone`. */
export type Peer = string;

export function peerOf(address: Address): Peer {
  return `${address.host}:${address.zone}`;
}

export class Links {
  private readonly numbers = new Map<Peer, number>();
  /** An address says nothing about its zone to the machine: only answers do. */
  private readonly zones = new Map<Peer, number>();

  up(peer: Peer, link: number): void {
    this.numbers.set(peer, link);
  }

  /** Forgets a link. Gives whether it was the newest one to that replica. */
  down(peer: Peer, link: number): boolean {
    if (!this.isNewest(peer, link)) return false;
    this.numbers.delete(peer);
    this.zones.delete(peer);
    return true;
  }

  /** Whether this is the link that counts: what comes over an older one is the past. */
  isNewest(peer: Peer, link: number): boolean {
    return this.numbers.get(peer) === link;
  }

  /** A replica has said which zone it is of. */
  learnZone(peer: Peer, zone: number): void {
    this.zones.set(peer, zone);
  }

  all(): Peer[] {
    return [...this.numbers.keys()];
  }

  /** The replicas that may be of this zone: those that said so and those that said nothing. */
  thatMayBeOf(zone: number): Peer[] {
    return this.all().filter((peer) => (this.zones.get(peer) ?? zone) === zone);
  }
}
