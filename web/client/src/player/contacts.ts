// The contacts: the replicas that the player should be able to reach at once.
//
// The home names them. A replica that is no contact any more stays one for a while: the avatar may turn round, and a new
// connection costs more than an idle one. Without a home that is heard, any replica may be the next: then all are wanted.

import type { Peer } from "./links.ts";

/** Time for which a replica stays a contact after the home has stopped naming it, ms. */
const KEEP = 30_000;

export class Contacts {
  /** The replicas that the home named last; `null` while all are wanted. */
  private named: ReadonlySet<Peer> | null = null;
  /** Replicas that are not named, and until when they stay contacts. */
  private readonly kept = new Map<Peer, number>();

  /** The home names the contacts. Those named before are kept for a while; while all were wanted, those that can be reached. */
  name(now: number, replicas: Peer[], reachable: Peer[]): void {
    for (const peer of this.named ?? reachable) this.kept.set(peer, this.kept.get(peer) ?? now + KEEP);
    this.named = new Set(replicas);
    this.named.forEach((peer) => this.kept.delete(peer));
    this.expire(now);
  }

  /** All replicas are wanted. Returns true if that is news. */
  wantAll(): boolean {
    this.kept.clear();
    const isNews = this.named !== null;
    this.named = null;
    return isNews;
  }

  /** Gives up the replicas that were kept for long enough. */
  expire(now: number): void {
    for (const [peer, until] of [...this.kept]) if (until <= now) this.kept.delete(peer);
  }

  /** The time at which the next replica is given up; null if none is kept. */
  get nextExpiry(): number | null {
    return this.kept.size === 0 ? null : Math.min(...this.kept.values());
  }

  /** The contacts; null if all replicas are wanted. */
  get wanted(): Peer[] | null {
    return this.named === null ? null : [...this.named, ...this.kept.keys()];
  }
}
