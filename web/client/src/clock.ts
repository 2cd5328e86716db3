// An estimate of world time (crates/zone/src/clock.rs): takes the answer with the shortest round trip, and follows it
// without stepping back. All times are milliseconds.

/** A clock that is behind by more than this jumps, because slow catching up would take too long. */
const JUMP = 250;
/** While it is ahead, the clock runs at this part of its speed until the world has caught up. */
const AHEAD = 2;
/** While it is a little behind, it runs faster by this part of its speed. */
const BEHIND = 8;
/** An estimate older than this is replaced by any newer one, however long its way was. */
const STALE = 10_000;

interface ClockSample {
  at: number;
  world: number;
  trip: number;
}

/** Converts the client's own time to world time. */
export class WorldClock {
  private world = 0;
  private at = 0;
  private sample: ClockSample | null = null;

  /** True once a zone has sent its world time. */
  get isSet(): boolean {
    return this.sample !== null;
  }

  /** World time, never less than before; 0 until a zone has sent it. */
  now(own: number): number {
    if (this.sample === null) return 0;
    const passed = Math.max(0, own - this.at);
    const free = this.world + passed;
    const target = this.sample.world + Math.max(0, own - this.sample.at);
    if (target < free) return Math.max(this.world + passed / AHEAD, target);
    return JUMP < target - free ? target : Math.min(target, free + passed / BEHIND);
  }

  /** A zone answered `world` to a message that was sent at `asked`; the answer arrived at `own`. */
  learn(asked: number, own: number, world: number): void {
    const trip = Math.max(0, own - asked);
    const better = this.sample === null || trip <= this.sample.trip || STALE < own - this.sample.at;
    if (!better) return;
    const sample = { at: own, world: world + trip / 2, trip };
    // The client's clock has an arbitrary start: before the first answer it says nothing about world time.
    [this.world, this.at] = [this.sample === null ? sample.world : this.now(own), own];
    this.sample = sample;
  }
}
