// The view: all objects in sight, as they should be drawn at a moment.

import type { Key, ObjectId } from "./object.ts";
import type { Motion } from "./motion.ts";
import { Track } from "./track.ts";

/** Other objects are drawn this long ago, ms: the usual delay of a new motion. */
const DELAY = 100;

/** An object in sight. It is the same value at each drawing, as long as it stays in sight. */
export interface ViewObject<Shown> {
  readonly key: Key;
  readonly object: ObjectId;
  /** The game's decoded `Shown`. */
  shown: Shown;
  /** Number of changes of `shown` so far. */
  changes: number;
  readonly track: Track;
  /** True if it is drawn at its present position, not at that of a moment ago. */
  isNow: boolean;
}

export interface ViewOptions<Shown> {
  /** True for objects whose motion never changes, such as rockets: they are drawn at their present position. */
  isSteady?: ((shown: Shown) => boolean) | undefined;
}

export class View<Shown> {
  readonly objects = new Map<Key, ViewObject<Shown>>();
  private readonly options: ViewOptions<Shown>;
  /** Objects that were in sight before `forgetAll`: dropped unless they are seen again before the next drawing. */
  private before = new Map<Key, ViewObject<Shown>>();
  private last: number | null = null;
  private worldNow = 0;

  constructor(options: ViewOptions<Shown> = {}) {
    this.options = options;
  }

  /** All objects in sight follow anew. */
  forgetAll(): void {
    for (const [key, it] of this.objects) this.before.set(key, it);
    this.objects.clear();
  }

  see(key: Key, object: ObjectId, shown: Shown, motion: Motion, isOwn: boolean): void {
    const known = this.objects.get(key) ?? this.before.get(key);
    const isNow = isOwn || (this.options.isSteady?.(shown) ?? false);
    if (known === undefined) {
      const track = new Track(motion, isNow ? this.worldNow : this.worldNow - DELAY);
      this.objects.set(key, { key, object, shown, changes: 1, track, isNow });
      return;
    }
    this.objects.set(key, known);
    known.shown = shown;
    known.changes++;
    known.isNow = isNow;
    if (isOwn) known.track.replace(motion);
    else known.track.add(motion);
  }

  hear(key: Key, motion: Motion): void {
    this.objects.get(key)?.track.add(motion);
  }

  lose(key: Key): void {
    this.objects.delete(key);
  }

  /** Moves all objects to their positions at `now`, ms of world time. */
  update(now: number, me: Key | null, own: Motion): void {
    const passed = this.last === null ? 0 : Math.max(0, now - this.last);
    this.last = this.worldNow = now;
    this.before.clear();
    if (me !== null) this.objects.get(me)?.track.replace(own);
    for (const { track, isNow } of this.objects.values()) track.move(isNow ? now : now - DELAY, passed);
  }
}
