// Bytes as hex, decoded values as JSON, seeded random numbers.

export function unhex(text: string): Uint8Array {
  const digits = text.replaceAll(" ", "").trim();
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

export function hexed(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A decoded value as in the vectors: JSON has neither bytes nor big numbers. */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return hexed(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, plain(it)]));
}

/** Seeded random numbers from 0 up to 2^32 (mulberry32), so that a failure can be repeated. */
export function chance(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
