// What is in sight, and of each object the newest state that was told.

import { type Motion, isNewer } from "../motion.ts";
import { type Key, type ObjectId, keyOf } from "../object.ts";
import type { Shown } from "../protocol.ts";

/** How long it is remembered what was last seen of what is out of sight. */
const REMEMBERED = 10_000;

/** An object in sight. */
export interface Seen {
  object: ObjectId;
  motion: Motion;
  shown: Uint8Array;
}

/** The newest state of an object that was told. */
interface Known {
  incarnation: number;
  version: number;
  /** Since when it is out of sight, if it is. */
  hidden: number | null;
}

export class KnownObjects {
  readonly inSight = new Map<Key, Seen>();
  private readonly known = new Map<Key, Known>();

  /** Incarnation and version of everything in sight. */
  versions(): { object: ObjectId; incarnation: number; version: number }[] {
    return [...this.inSight].map(([key, { object }]) => {
      const { incarnation, version } = this.known.get(key) ?? { incarnation: 0, version: 0 };
      return { object, incarnation, version };
    });
  }

  /** Forgets every version: a world that lost its last moments may show older ones. */
  forgetVersions(): void {
    this.known.clear();
  }

  /** Whether a newer state of the object is known. */
  isOld({ object, incarnation, version }: Shown): boolean {
    const known = this.known.get(keyOf(object));
    if (known === undefined || incarnation !== known.incarnation) return known !== undefined && incarnation < known.incarnation;
    return version < known.version;
  }

  /** Nothing but these is in sight. What is known newer than the home has it stays as it is; the rest will be told. */
  keep(now: number, objects: Shown[]): void {
    const kept = new Set(objects.filter((it) => this.isOld(it)).map((it) => keyOf(it.object)));
    for (const key of [...this.inSight.keys()]) if (!kept.has(key)) this.inSight.delete(key);
    this.hideRest(now);
  }

  /** What is not in sight is remembered for a while: a zone that has heard less of it than we have may show it again. */
  private hideRest(now: number): void {
    for (const [key, known] of this.known) {
      if (!this.inSight.has(key)) known.hidden ??= now;
      if (known.hidden !== null && REMEMBERED <= now - known.hidden) this.known.delete(key);
    }
  }

  /** An object is new or changed, and not old. The newest motion heard stays. */
  see({ object, incarnation, version, motion, shown }: Shown): Seen {
    const key = keyOf(object);
    this.known.set(key, { incarnation, version, hidden: null });
    const before = this.inSight.get(key)?.motion;
    const seen = { object, motion: before !== undefined && isNewer(before, motion) ? before : motion, shown };
    this.inSight.set(key, seen);
    return seen;
  }

  /** An object is gone. Gives whether it was in sight. */
  lose(now: number, key: Key, version: number): boolean {
    const known = this.known.get(key);
    if (known === undefined || version < known.version) return false;
    // A zone that has not heard of the end must not show the object again.
    [known.version, known.hidden] = [version, now];
    return this.inSight.delete(key);
  }

  /** These have left the sight. Gives those that were in it. */
  hide(now: number, hidden: Key[]): Key[] {
    const left = hidden.filter((key) => this.inSight.delete(key));
    this.hideRest(now);
    return left;
  }

  /** An object in sight moves like this, unless a newer motion is known. Gives whether that is news. */
  hear(key: Key, motion: Motion): boolean {
    const known = this.inSight.get(key);
    if (known === undefined || !isNewer(motion, known.motion)) return false;
    known.motion = motion;
    return true;
  }

  /** An object in sight moves like this, whatever was heard. */
  put(key: Key, motion: Motion): void {
    const known = this.inSight.get(key);
    if (known !== undefined) known.motion = motion;
  }
}
