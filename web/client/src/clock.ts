// World time, estimated (crates/zone/src/clock.rs): believes the answer with the shortest way, and follows it
// without ever stepping back. Everything is milliseconds.

/** A clock that is behind by more than this jumps: walking up to it would take too long to be useful. */
const JUMP = 250;
/** While it is ahead, the clock runs at this part of its speed until the world has caught up. */
const AHEAD = 2;
/** While it is a little behind, it runs faster by this part of its speed. */
const BEHIND = 8;
/** An estimate older than this is replaced by any newer one, however long its way was. */
const STALE = 10_000;

interface Sample {
  at: number;
  world: number;
  trip: number;
}

/** Own time to world time. */
export class WorldClock {
  private world = 0;
  private at = 0;
  private sample: Sample | null = null;

  /** Whether world time was ever heard. */
  get isSet(): boolean {
    return this.sample !== null;
  }

  /** World time. Never less than before; 0 until it was heard. */
  now(own: number): number {
    if (this.sample === null) return 0;
    const passed = Math.max(0, own - this.at);
    const free = this.world + passed;
    const target = this.sample.world + Math.max(0, own - this.sample.at);
    if (target < free) return Math.max(this.world + passed / AHEAD, target);
    return JUMP < target - free ? target : Math.min(target, free + passed / BEHIND);
  }

  /** Somebody said `world`, to a question asked at `asked` and answered at `own`. */
  learn(asked: number, own: number, world: number): void {
    const trip = Math.max(0, own - asked);
    const better = this.sample === null || trip <= this.sample.trip || STALE < own - this.sample.at;
    if (!better) return;
    const sample = { at: own, world: world + trip / 2, trip };
    // The own clock starts anywhere: until the first answer it says nothing about the world's.
    [this.world, this.at] = [this.sample === null ? sample.world : this.now(own), own];
    this.sample = sample;
  }
}
