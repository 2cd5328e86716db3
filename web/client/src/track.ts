// One object's way through time, as the eye should see it.
//
// Others are drawn a moment in the past, where their course is known. A course that is learned too late would make
// them jump: instead the difference is kept and fades.

import { type Motion, angleOf, isNewer, smoothX, smoothY } from "./motion.ts";

/** So many motions are kept: more than change within the moment that is drawn late. */
const KEPT = 4;
/** How long a difference takes to fade to a third, ms. */
const FADE = 90;
/** How long a turn takes, ms. */
const TURN = 60;
/** Whoever is farther off than this was moved on purpose, mm. */
const SNAP = 4_000;

export class Track {
  x = 0;
  y = 0;
  /** Radians. */
  angle: number;
  /** Whether its first motion has begun, so that it is there at all. */
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

  /** It moves like this. */
  add(motion: Motion): void {
    if (motion === this.newest || isNewer(this.newest, motion)) return;
    const { x, y } = this;
    if (isNewer(motion, this.newest)) this.motions.push(motion);
    else this.motions[this.motions.length - 1] = motion;
    if (KEPT < this.motions.length) this.motions.shift();
    this.bridge(x, y);
  }

  /** It moves like this and always has: for the own avatar, whose player knows. */
  replace(motion: Motion): void {
    if (motion === this.newest) return;
    const { x, y } = this;
    this.motions.length = 0;
    this.motions.push(motion);
    this.bridge(x, y);
  }

  /** Draws it at `at`, ms of world time; `passed` ms after the last time. */
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
