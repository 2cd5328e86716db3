// The objects in sight, and the newest known version of each object.

import { type Motion, isNewer } from "../motion.ts";
import { type Key, type ObjectId, keyOf } from "../object.ts";
import type { ShownObject } from "../protocol.ts";

/** Time for which the version of an object out of sight is remembered, ms. */
const REMEMBERED = 10_000;

/** An object in sight. */
export interface VisibleObject {
  object: ObjectId;
  motion: Motion;
  shown: Uint8Array;
}

/** The newest version of an object that a zone has sent. */
interface KnownVersion {
  incarnation: number;
  version: number;
  /** Time since which the object is out of sight; null if it is in sight. */
  hidden: number | null;
}

export class KnownObjects {
  readonly inSight = new Map<Key, VisibleObject>();
  private readonly known = new Map<Key, KnownVersion>();

  /** Incarnation and version of all objects in sight. */
  versions(): { object: ObjectId; incarnation: number; version: number }[] {
    return [...this.inSight].map(([key, { object }]) => {
      const { incarnation, version } = this.known.get(key) ?? { incarnation: 0, version: 0 };
      return { object, incarnation, version };
    });
  }

  /** Forgets every version: a zone that lost its last records may show older ones. */
  forgetVersions(): void {
    this.known.clear();
  }

  /** True if a newer version of the object is known. */
  isOld({ object, incarnation, version }: ShownObject): boolean {
    const known = this.known.get(keyOf(object));
    if (known === undefined || incarnation !== known.incarnation) return known !== undefined && incarnation < known.incarnation;
    return version < known.version;
  }

  /** Only these objects are in sight now. Objects known in a newer version stay as they are; the others follow by `see`. */
  keep(now: number, objects: ShownObject[]): void {
    const kept = new Set(objects.filter((it) => this.isOld(it)).map((it) => keyOf(it.object)));
    for (const key of [...this.inSight.keys()]) if (!kept.has(key)) this.inSight.delete(key);
    this.hideRest(now);
  }

  /** Remembers versions out of sight for a while: a zone with older knowledge may show such an object again. */
  private hideRest(now: number): void {
    for (const [key, known] of this.known) {
      if (!this.inSight.has(key)) known.hidden ??= now;
      if (known.hidden !== null && REMEMBERED <= now - known.hidden) this.known.delete(key);
    }
  }

  /** Takes in an object that is new or changed. A newer motion that is already known stays. */
  see({ object, incarnation, version, motion, shown }: ShownObject): VisibleObject {
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

  /** These objects left the sight. Returns those that were in sight before. */
  hide(now: number, hidden: Key[]): Key[] {
    const left = hidden.filter((key) => this.inSight.delete(key));
    this.hideRest(now);
    return left;
  }

  /** Takes in a motion of an object in sight. Returns false if a newer one is known. */
  hear(key: Key, motion: Motion): boolean {
    const known = this.inSight.get(key);
    if (known === undefined || !isNewer(motion, known.motion)) return false;
    known.motion = motion;
    return true;
  }

  /** Sets the motion of an object in sight, even if a newer one is known. */
  put(key: Key, motion: Motion): void {
    const known = this.inSight.get(key);
    if (known !== undefined) known.motion = motion;
  }
}
