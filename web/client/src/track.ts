// The smoothed path of one object, for drawing.
//
// Other objects are drawn a moment in the past, where their motion is known. A motion that arrives too late would make them
// jump: instead the difference is kept and fades.

import { type Motion, angleOf, isNewer, smoothX, smoothY } from "./motion.ts";

/** Number of kept motions: more than usually change within the drawing delay. */
const KEPT = 4;
/** Time in which a difference fades to about a third, ms. */
const FADE = 90;
/** Time constant of a turn, ms. */
const TURN = 60;
/** An object that is farther off than this, mm, was placed by an event: it jumps without smoothing. */
const SNAP = 4_000;

export class Track {
  x = 0;
  y = 0;
  /** Radians. */
  angle: number;
  /** True once its first motion has begun: before, the object must not be drawn. */
  hasBegun = false;
  private readonly motions: Motion[];
  private at: number;
  private offX = 0;
  private offY = 0;

  constructor(motion: Motion, at: number) {
    this.motions = [motion];
    this.at = at;
    this.angle = angleOf(motion.heading);
    this.place(at);
  }

  get newest(): Motion {
    return this.motions[this.motions.length - 1] as Motion;
  }

  /** Adds a newer motion; an older one is ignored. */
  add(motion: Motion): void {
    if (motion === this.newest || isNewer(this.newest, motion)) return;
    const { x, y } = this;
    if (isNewer(motion, this.newest)) this.motions.push(motion);
    else this.motions[this.motions.length - 1] = motion;
    if (KEPT < this.motions.length) this.motions.shift();
    this.bridge(x, y);
  }

  /** Replaces all motions: for the player's own avatar, which is not drawn in the past. */
  replace(motion: Motion): void {
    if (motion === this.newest) return;
    const { x, y } = this;
    this.motions.length = 0;
    this.motions.push(motion);
    this.bridge(x, y);
  }

  /** Computes position and angle at `at`, ms of world time, `passed` ms after the last call. */
  move(at: number, passed: number): void {
    const kept = Math.exp(-passed / FADE);
    this.offX *= kept;
    this.offY *= kept;
    this.at = at;
    this.place(at);
    this.turn(passed);
  }

  private bridge(x: number, y: number): void {
    this.offX = this.offY = 0;
    this.place(this.at);
    const [offX, offY] = [x - this.x, y - this.y];
    if (SNAP < Math.hypot(offX, offY)) return;
    [this.offX, this.offY] = [offX, offY];
    [this.x, this.y] = [x, y];
  }

  private place(at: number): void {
    const motion = this.motionAt(at);
    this.hasBegun ||= motion.start <= at;
    this.x = smoothX(motion, at) + this.offX;
    this.y = smoothY(motion, at) + this.offY;
  }

  private turn(passed: number): void {
    const wanted = angleOf(this.motionAt(this.at).heading);
    const turn = Math.atan2(Math.sin(wanted - this.angle), Math.cos(wanted - this.angle));
    this.angle += turn * (1 - Math.exp(-passed / TURN));
  }

  private motionAt(at: number): Motion {
    for (let index = this.motions.length - 1; 0 < index; index--) {
      const motion = this.motions[index] as Motion;
      if (motion.start <= at) return motion;
    }
    return this.motions[0] as Motion;
  }
}
