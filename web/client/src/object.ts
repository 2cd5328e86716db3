// Names of objects, as values and as map keys.

import type { Reader, Writer } from "./bytes.ts";

/** An object's name for life. The same shape as in the modules that `ecumene schema --ts` makes. */
export interface ObjectId {
  zone: number;
  epoch: number;
  counter: number;
}

/** A name as a map's key: `3.1.1200`. */
export type Key = string;

export function keyOf(id: ObjectId): Key {
  return `${id.zone}.${id.epoch}.${id.counter}`;
}

/** The object name of a key. */
export function idOf(key: Key): ObjectId {
  const [zone, epoch, counter] = key.split(".").map(Number);
  return { zone: zone ?? 0, epoch: epoch ?? 0, counter: counter ?? 0 };
}

export function readObject(input: Reader): ObjectId {
  return { zone: input.u32(), epoch: input.u32(), counter: input.u32() };
}

export function writeObject(out: Writer, id: ObjectId): void {
  out.uint(id.zone).uint(id.epoch).uint(id.counter);
}
