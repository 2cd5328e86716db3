// Everything in sight, as it should be drawn at a moment.

import type { Key, ObjectId } from "./object.ts";
import type { Motion } from "./motion.ts";
import { Track } from "./track.ts";

/** Others are drawn this long ago: as old as news of a turn usually is. */
const DELAY = 100;

/** An object in sight. One that stays is the same value from frame to frame. */
export interface Thing<Shown> {
  readonly key: Key;
  readonly object: ObjectId;
  /** What the game shows of it. */
  shown: Shown;
  /** Grows with every change of `shown`. */
  changes: number;
  readonly track: Track;
  /** Drawn as it is now, not as it was a moment ago. */
  isNow: boolean;
}

export interface ViewOptions<Shown> {
  /** Things whose course never changes, such as rockets, are drawn as they are now: they hide nothing. */
  isSteady?: ((shown: Shown) => boolean) | undefined;
}

export class View<Shown> {
  readonly things = new Map<Key, Thing<Shown>>();
  private readonly options: ViewOptions<Shown>;
  /** What was in sight before everything was told anew: dropped unless it is told again before the next frame. */
  private before = new Map<Key, Thing<Shown>>();
  private last: number | null = null;
  private worldNow = 0;

  constructor(options: ViewOptions<Shown> = {}) {
    this.options = options;
  }

  /** Everything will be told anew. */
  forgetAll(): void {
    for (const [key, thing] of this.things) this.before.set(key, thing);
    this.things.clear();
  }

  see(key: Key, object: ObjectId, shown: Shown, motion: Motion, isOwn: boolean): void {
    const known = this.things.get(key) ?? this.before.get(key);
    const isNow = isOwn || (this.options.isSteady?.(shown) ?? false);
    if (known === undefined) {
      const track = new Track(motion, isNow ? this.worldNow : this.worldNow - DELAY);
      this.things.set(key, { key, object, shown, changes: 1, track, isNow });
      return;
    }
    this.things.set(key, known);
    known.shown = shown;
    known.changes++;
    known.isNow = isNow;
    if (isOwn) known.track.replace(motion);
    else known.track.add(motion);
  }

  hear(key: Key, motion: Motion): void {
    this.things.get(key)?.track.add(motion);
  }

  lose(key: Key): void {
    this.things.delete(key);
  }

  /** Puts everything where it is at `now`, ms of world time. */
  update(now: number, me: Key | null, own: Motion): void {
    const passed = this.last === null ? 0 : Math.max(0, now - this.last);
    this.last = this.worldNow = now;
    this.before.clear();
    if (me !== null) this.things.get(me)?.track.replace(own);
    for (const { track, isNow } of this.things.values()) track.move(isNow ? now : now - DELAY, passed);
  }
}
