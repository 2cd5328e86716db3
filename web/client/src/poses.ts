// Poses: updates of motions, as a carrier brings them (docs/wire.md). Each value has exactly one encoding; any other bytes
// for it are refused.

import type { Motion } from "./motion.ts";
import { DecodeError } from "./bytes.ts";
import { type Key, keyOf } from "./object.ts";

export interface Pose {
  object: Key;
  motion: Motion;
}

const KIND = 0xd1;
const DATAGRAM_MAX = 1150;
const POSE_MIN = 11;
const POSE_MAX = 64;
const VERSION = 1;
const MOVING = 1;
const TAGGED = 2;
const TAG_LENGTH = 8;
const COORDINATE = 2 ** 30;
const VELOCITY_MAX = 2 ** 24 - 1;

/** The byte ranges of a datagram's poses. A damaged datagram is refused as a whole. */
export function framesOfPoses(datagram: Uint8Array): Uint8Array[] {
  if (DATAGRAM_MAX < datagram.length) throw new DecodeError("too long");
  if (datagram.length < 2) throw new DecodeError("too short");
  if (datagram[0] !== KIND) throw new DecodeError("no poses");
  const frames: Uint8Array[] = [];
  for (let at = 1; at < datagram.length; ) {
    const length = datagram[at] ?? 0;
    if (length < POSE_MIN || POSE_MAX < length) throw new DecodeError(`a frame of ${length} bytes`);
    if (datagram.length < at + 1 + length) throw new DecodeError("too short");
    frames.push(datagram.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return frames;
}

/** The poses of a datagram. A pose that does not decode is skipped alone. */
export function decodePoses(datagram: Uint8Array): Pose[] {
  const poses: Pose[] = [];
  for (const frame of framesOfPoses(datagram)) {
    try {
      poses.push(decodePose(frame));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return poses;
}

export function decodePose(bytes: Uint8Array): Pose {
  const input = new StrictReader(bytes);
  const header = input.byte();
  if (header >> 4 !== VERSION) throw new DecodeError(`version ${header >> 4}`);
  if ((header & 0b1100) !== 0) throw new DecodeError("unknown flags");
  const object = keyOf({ zone: input.u32(), epoch: input.u32(), counter: input.u32() });
  const [generation, sequence, start] = [input.u32(), input.u32(), input.count()];
  const position = { x: input.signed(-COORDINATE, COORDINATE - 1), y: input.signed(-COORDINATE, COORDINATE - 1) };
  const velocity = { x: 0, y: 0 };
  if ((header & MOVING) !== 0) {
    velocity.x = input.signed(-VELOCITY_MAX, VELOCITY_MAX);
    velocity.y = input.signed(-VELOCITY_MAX, VELOCITY_MAX);
    if (velocity.x === 0 && velocity.y === 0) throw new DecodeError("moving, but not");
  }
  const heading = input.byte() | (input.byte() << 8);
  if ((header & TAGGED) !== 0) for (let index = 0; index < TAG_LENGTH; index++) input.byte();
  input.end();
  return { object, motion: { position, velocity, heading, start, generation, sequence } };
}

/** Reads numbers in their shortest form only. */
class StrictReader {
  private readonly data: Uint8Array;
  private at = 0;

  constructor(data: Uint8Array) {
    this.data = data;
  }

  end(): void {
    if (this.at !== this.data.length) throw new DecodeError("bytes follow");
  }

  byte(): number {
    const byte = this.data[this.at];
    if (byte === undefined) throw new DecodeError("too short");
    this.at++;
    return byte;
  }

  private varint(limit: number): number {
    let value = 0;
    for (let index = 0; index < 10; index++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) {
        if (byte === 0 && 0 < index) throw new DecodeError("a number written too long");
        if (limit <= value) break;
        return value;
      }
    }
    throw new DecodeError("a number out of range");
  }

  u32(): number {
    return this.varint(2 ** 32);
  }

  /** 64 bits on the wire; times stay far below 2^53 (285 000 years of milliseconds). */
  count(): number {
    return this.varint(2 ** 53);
  }

  signed(low: number, high: number): number {
    const folded = this.varint(2 ** 32);
    const value = folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
    if (value < low || high < value) throw new DecodeError("a number out of range");
    return value;
  }
}
