// The player's avatar: where the player moved it, unless an event or a refusal has set it back.

import { type Motion, REST, type Vector, rebased } from "../motion.ts";
import type { Key } from "../object.ts";

/** The highest number that a motion's sequence can have. */
const SEQUENCE_MAX = 2 ** 32 - 1;

export class Avatar {
  /** None before the player is in. */
  key: Key | null = null;
  motion: Motion = REST;

  /**
   * A zone lets the player in with this avatar. A new primary may not have heard of the last steps; of an event that
   * moved the avatar it has.
   */
  enter(key: Key, motion: Motion): void {
    const { generation, sequence } = this.motion;
    const hasWalkedOn = this.key === key && generation === motion.generation && motion.sequence <= sequence;
    if (!hasWalkedOn) this.motion = motion;
    this.key = key;
  }

  /** Goes on like this from where the avatar is at `world` time. */
  steer(world: number, velocity: Vector, heading: number): void {
    const now = Math.max(world, this.motion.start);
    const sequence = Math.min(this.motion.sequence + 1, SEQUENCE_MAX);
    this.motion = { ...rebased(this.motion, now), velocity, heading, start: Math.floor(now), sequence };
  }

  /** The zone refused a move. The sequence never falls: the zone would take the next move for an older one. */
  setBack(motion: Motion): void {
    this.motion = { ...motion, sequence: Math.max(this.motion.sequence, motion.sequence) };
  }

  /** Takes the motion over if an event has set it. Gives whether it has. */
  follow(key: Key, motion: Motion): boolean {
    if (key !== this.key || motion.generation <= this.motion.generation) return false;
    this.motion = motion;
    return true;
  }
}
