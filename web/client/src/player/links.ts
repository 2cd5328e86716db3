// The replicas that the player is connected to, and the zone of each, as far as it is known.

import type { Address } from "../protocol.ts";

/** A replica, as a map's key: `host:zone`. */
export type Peer = string;

export function peerOf(address: Address): Peer {
  return `${address.host}:${address.zone}`;
}

export function hostOf(peer: Peer): number {
  return Number(peer.split(":")[0]);
}

export class Links {
  private readonly numbers = new Map<Peer, number>();
  /** The zone of each replica that has answered: the machine does not read zones from addresses. */
  private readonly zones = new Map<Peer, number>();

  up(peer: Peer, link: number): void {
    this.numbers.set(peer, link);
  }

  /** Forgets a link. Returns false if it was not the newest one to that replica. */
  down(peer: Peer, link: number): boolean {
    if (!this.isNewest(peer, link)) return false;
    this.numbers.delete(peer);
    this.zones.delete(peer);
    return true;
  }

  /** True if this is the newest link to the replica: messages over older links are outdated. */
  isNewest(peer: Peer, link: number): boolean {
    return this.numbers.get(peer) === link;
  }

  /** A replica has told its zone. */
  learnZone(peer: Peer, zone: number): void {
    this.zones.set(peer, zone);
  }

  all(): Peer[] {
    return [...this.numbers.keys()];
  }

  /** The replicas that may belong to this zone: those that said so, and those whose zone is unknown. */
  thatMayBeOf(zone: number): Peer[] {
    return this.all().filter((peer) => (this.zones.get(peer) ?? zone) === zone);
  }
}
