// Steering: turns the input of keys, sticks and helpers into a velocity and a heading, and calls `World.steer` only when one
// of them changes.

import { type Vector, angleOf, headingOf, positionAt } from "@ecumene/client";
import { type Kosmos, meOf } from "./kosmos.ts";
import { type Corner, depth } from "./region.ts";
import { AVATAR_SPEED } from "./rules.ts";

/** Least time between two sent velocities, ms: hosts read 60 messages a second. */
const COURSE_EVERY = 50;
/** Least time between two sent headings without a new velocity, ms. */
const LOOK_EVERY = 120;
/** Turning less than this is not worth a message, radians. */
const LOOK_LEAST = 0.06;
/** Pause after a correction before the avatar moves again, ms. */
const AFTER_CORRECTION = 120;
/** Distance that the avatar keeps from the edge of the world, mm. */
const MARGIN = 350;
/** Time ahead for which the edge is checked, ms. */
const AHEAD = 160;
/** Distance at which a goal counts as reached, m. */
const ARRIVED = 0.35;

interface Goal {
  x: number;
  y: number;
  near: number;
  done: (arrived: boolean) => void;
}

export class Steering {
  /** Direction of keys or stick, a vector of length 1 at most. */
  wish: Vector = { x: 0, y: 0 };
  /** Heading of the avatar, radians. */
  angle = 0;
  private readonly world: Kosmos;
  private readonly corners: Corner[];
  private goal: Goal | null = null;
  private said = -Infinity;
  private notBefore = 0;
  private ticked = 0;
  /** Mean time between two drawings, ms. */
  private pause = 16;

  constructor(world: Kosmos) {
    this.world = world;
    this.corners = world.info.region;
  }

  /** The zone corrected the avatar: pauses before the next move. */
  corrected(now: number): void {
    this.notBefore = now + AFTER_CORRECTION;
  }

  /** Walks to a place, m; resolves to true on arrival, to false if a key or another goal ends the walk. */
  walkTo(x: number, y: number, near = ARRIVED): Promise<boolean> {
    this.goal?.done(false);
    return new Promise((done) => (this.goal = { x, y, near, done }));
  }

  stop(): void {
    this.wish = { x: 0, y: 0 };
    this.goal?.done(false);
    this.goal = null;
  }

  tick(now: number): void {
    this.pause = 0.8 * this.pause + 0.2 * Math.min(1_000, now - this.ticked);
    this.ticked = now;
    const me = meOf(this.world);
    if (this.world.state !== "playing" || me === null || me.health === 0 || now < this.notBefore) return;
    if (this.world.now < Number(me.stunned_until)) return;
    const velocity = this.inside(this.course());
    const { motion } = this.world;
    const isNew = velocity.x !== motion.velocity.x || velocity.y !== motion.velocity.y;
    const turn = Math.abs(Math.atan2(Math.sin(this.angle - angleOf(motion.heading)), Math.cos(this.angle - angleOf(motion.heading))));
    const isDue = (isNew && COURSE_EVERY <= now - this.said) || (LOOK_LEAST < turn && LOOK_EVERY <= now - this.said);
    if (!isDue) return;
    this.said = now;
    this.world.steer(velocity, headingOf(this.angle));
  }

  /** The input as a velocity, mm/s. */
  private course(): Vector {
    let { x, y } = this.wish;
    if (x === 0 && y === 0 && this.goal !== null) [x, y] = this.towards(this.goal);
    else if (this.goal !== null) this.stopGoal();
    const length = Math.max(1, Math.hypot(x, y));
    const speed = AVATAR_SPEED * 1000;
    return { x: Math.trunc((x / length) * speed), y: Math.trunc((y / length) * speed) };
  }

  private stopGoal(): void {
    this.goal?.done(false);
    this.goal = null;
  }

  private towards({ x, y, near, done }: Goal): [number, number] {
    const here = positionAt(this.world.motion, this.world.now);
    const [dx, dy] = [x - here.x / 1000, y - here.y / 1000];
    const way = Math.hypot(dx, dy);
    if (way <= near) {
      this.goal = null;
      done(true);
      return [0, 0];
    }
    this.angle = Math.atan2(dy, dx);
    // One of 64 directions, so that a straight walk needs one message. Slower at the end, so that the avatar stops at the
    // goal even if the page draws seldom.
    const angle = (Math.round((this.angle / Math.PI) * 32) / 32) * Math.PI;
    const reach = AVATAR_SPEED * Math.max(0.2, (2 * this.pause) / 1000);
    const pace = way < reach ? Math.max(0.1, Math.round((way / reach) * 8) / 8) : 1;
    return [Math.cos(angle) * pace, Math.sin(angle) * pace];
  }

  /** Lets the avatar slide along the edge of the world. */
  private inside(velocity: Vector): Vector {
    const here = positionAt(this.world.motion, this.world.now);
    const isIn = ({ x, y }: Vector): boolean => {
      const [nextX, nextY] = [here.x + (x * AHEAD) / 1000, here.y + (y * AHEAD) / 1000];
      const next = depth(this.corners, nextX, nextY);
      return MARGIN <= next || depth(this.corners, here.x, here.y) < next;
    };
    const choices = [velocity, { x: velocity.x, y: 0 }, { x: 0, y: velocity.y }];
    return choices.find(isIn) ?? { x: 0, y: 0 };
  }
}
