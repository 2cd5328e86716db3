// The player's avatar: its motion is the player's own, unless an event or a correction has set it.

import { type Motion, REST, type Vector, rebased } from "../motion.ts";
import type { Key } from "../object.ts";

/** The highest number that a motion's sequence can have. */
const SEQUENCE_MAX = 2 ** 32 - 1;

export class Avatar {
  /** Null until a zone has let the player in. */
  key: Key | null = null;
  motion: Motion = REST;

  /**
   * A zone lets the player in with this avatar. A new primary may not have received the player's last moves, so they are
   * kept; but it knows every event that moved the avatar.
   */
  enter(key: Key, motion: Motion): void {
    const { generation, sequence } = this.motion;
    const hasMovedOn = this.key === key && generation === motion.generation && motion.sequence <= sequence;
    if (!hasMovedOn) this.motion = motion;
    this.key = key;
  }

  /** Changes velocity and heading from the avatar's position at `world` time on. */
  steer(world: number, velocity: Vector, heading: number): void {
    const now = Math.max(world, this.motion.start);
    const sequence = Math.min(this.motion.sequence + 1, SEQUENCE_MAX);
    this.motion = { ...rebased(this.motion, now), velocity, heading, start: Math.floor(now), sequence };
  }

  /** The zone corrects a move. The sequence never falls: the zone would take the next move for an older one. */
  setBack(motion: Motion): void {
    this.motion = { ...motion, sequence: Math.max(this.motion.sequence, motion.sequence) };
  }

  /** Takes over a motion that an event has set. Returns false for any other motion. */
  follow(key: Key, motion: Motion): boolean {
    if (key !== this.key || motion.generation <= this.motion.generation) return false;
    this.motion = motion;
    return true;
  }
}
