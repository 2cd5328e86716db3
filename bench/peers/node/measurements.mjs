// Measurements of the clients on Node; the fields of the report are those of `../workload/src/measurements.rs`.

import { since } from "./workload.mjs";

/** An avatar counts as visible if a client was told of a move that is at most this old, in tenths of a millisecond. */
const VISIBLE_FOR = 2_500;

/** Counters of a crowd of clients. */
export class Measurements {
  constructor(clients) {
    this.clients = clients;
    /** The last move that each client was told of each avatar, by client, then by avatar; 0 is none. */
    this.last = new Uint32Array(clients * clients);
    this.reset();
  }

  /** Measuring begins: forgets the counts, not what clients know. */
  reset() {
    this.moves = 0;
    this.updates = 0;
    /** Ages of moves and round trips of pings, in tenths of a millisecond. */
    this.ages = [];
    this.pings = [];
  }

  /** An update arrives. `now` is 0 if the client measures no times. */
  onUpdate(client, avatar, at, now) {
    const index = client * this.clients + avatar;
    const last = this.last[index];
    const passed = since(at, last);
    if (!(avatar < this.clients) || at === 0 || (last !== 0 && (passed === 0 || 2 ** 31 <= passed))) return;
    this.last[index] = at;
    this.updates++;
    if (now !== 0) this.ages.push(since(now, at));
  }

  onPong(sent, now) {
    this.pings.push(since(now, sent));
  }

  /** Mean number of others of whose moves a client was told lately. */
  visible(now) {
    let count = 0;
    for (const at of this.last) if (at !== 0 && since(now, at) <= VISIBLE_FOR) count++;
    return count / this.clients;
  }

  report(seconds, visible) {
    const [ages, pings] = [this.ages, this.pings].map((it) => it.sort((a, b) => a - b));
    return {
      seconds,
      moves: this.moves,
      updates: this.updates,
      visible,
      age_p50_ms: quantileMs(ages, 0.5),
      age_p99_ms: quantileMs(ages, 0.99),
      ping_p50_ms: quantileMs(pings, 0.5),
      ping_p99_ms: quantileMs(pings, 0.99),
      udp: null,
    };
  }
}

/** The value that this part of an ascending list does not exceed, as milliseconds; 0 if the list is empty. */
function quantileMs(sorted, part) {
  return (sorted[Math.floor(part * sorted.length)] ?? 0) / 10;
}
