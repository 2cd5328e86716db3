// Motions: straight trajectories in time, evaluated as zones do it (crates/space/src/motion.rs).

import type { Reader, Writer } from "./bytes.ts";

/** Millimetres, or millimetres per second; x to the east, y to the north. */
export interface Vector {
  x: number;
  y: number;
}

/** From `position` at `start` on with `velocity`, until a newer motion replaces it. */
export interface Motion {
  readonly position: Vector;
  readonly velocity: Vector;
  /** 65536ths of a turn, counterclockwise from east. */
  readonly heading: number;
  /** Milliseconds of world time. */
  readonly start: number;
  readonly generation: number;
  readonly sequence: number;
}

const COORDINATE_MIN = -(2 ** 30);
const COORDINATE_MAX = 2 ** 30 - 1;
const TURN = 65536;

export const REST: Motion = {
  position: { x: 0, y: 0 },
  velocity: { x: 0, y: 0 },
  heading: 0,
  start: 0,
  generation: 0,
  sequence: 0,
};

/** The position of a motion at `now` (ms of world time): whole millimetres, rounded towards negative infinity. */
export function positionAt(motion: Motion, now: number): Vector {
  const micros = Math.max(0, Math.floor(now * 1000) - motion.start * 1000);
  const { position, velocity } = motion;
  return { x: saturated(position.x + travelled(velocity.x, micros)), y: saturated(position.y + travelled(velocity.y, micros)) };
}

/** The same without rounding, for drawing: `now` may be any fraction. */
export function smoothX(motion: Motion, now: number): number {
  return motion.position.x + (motion.velocity.x * Math.max(0, now - motion.start)) / 1000;
}

export function smoothY(motion: Motion, now: number): number {
  return motion.position.y + (motion.velocity.y * Math.max(0, now - motion.start)) / 1000;
}

/** Multiplies whole seconds apart from the rest, so that every product is exact in a double. */
function travelled(speed: number, micros: number): number {
  const seconds = Math.floor(micros / 1_000_000);
  return speed * seconds + Math.floor((speed * (micros - seconds * 1_000_000)) / 1_000_000);
}

function saturated(coordinate: number): number {
  return Math.min(COORDINATE_MAX, Math.max(COORDINATE_MIN, coordinate));
}

/** The same trajectory, with its start moved to the millisecond of `now`, or unchanged if its start is later. */
export function rebased(motion: Motion, now: number): Motion {
  const start = Math.max(Math.floor(now), motion.start);
  return { ...motion, position: positionAt(motion, start), start };
}

/** True if `one` replaces `other`, a motion of the same object. */
export function isNewer(one: Motion, other: Motion): boolean {
  if (one.generation !== other.generation) return other.generation < one.generation;
  return other.sequence < one.sequence;
}

/** A heading from an angle in radians. */
export function headingOf(angle: number): number {
  const turned = Math.round((angle / (2 * Math.PI)) * TURN) % TURN;
  return turned < 0 ? turned + TURN : turned;
}

/** Radians, from 0 to 2π. */
export function angleOf(heading: number): number {
  return (heading / TURN) * 2 * Math.PI;
}

export function readMotion(input: Reader): Motion {
  return {
    position: { x: input.i32(), y: input.i32() },
    velocity: { x: input.i32(), y: input.i32() },
    heading: input.u16(),
    start: input.count(),
    generation: input.u32(),
    sequence: input.u32(),
  };
}

export function writeMotion(out: Writer, motion: Motion): void {
  out.i32(motion.position.x).i32(motion.position.y).i32(motion.velocity.x).i32(motion.velocity.y);
  out.uint(motion.heading).uint(motion.start).uint(motion.generation).uint(motion.sequence);
}
