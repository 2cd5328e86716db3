// Numbers, texts and lists as bytes, in postcard's format (docs/zone.md, docs/net.md).
//
// Numbers of 64 bits come in two kinds. Names (of players, sessions) use all their bits and are bigints. Counts (of
// records, actions, times) stay far below 2^53 and are plain numbers, because they are read hundreds of times a second; a
// larger one is refused.

/** The error for bytes that are no valid message. */
export class DecodeError extends Error {
  override name = "DecodeError";
}

const SAFE_BITS = 53;

/** Reads untrusted bytes: no length is believed, so it allocates no more than the size of its input. */
export class Reader {
  private readonly data: Uint8Array;
  private at: number;

  constructor(data: Uint8Array, at = 0) {
    this.data = data;
    this.at = at;
  }

  get left(): number {
    return this.data.length - this.at;
  }

  end(): void {
    if (this.left !== 0) throw new DecodeError(`${this.left} bytes follow`);
  }

  u8(): number {
    const byte = this.data[this.at];
    if (byte === undefined) throw new DecodeError("too short");
    this.at++;
    return byte;
  }

  /** An unsigned number of at most `bits` bits, up to 53. */
  private varint(bits: number): number {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (2 ** bits <= value) break;
        return value;
      }
    }
    throw new DecodeError(`a number of more than ${bits} bits`);
  }

  u16(): number {
    return this.varint(16);
  }

  u32(): number {
    return this.varint(32);
  }

  /** A 64-bit count; refused from 2^53 on. */
  count(): number {
    return this.varint(SAFE_BITS);
  }

  /** A 64-bit name, with all its bits. */
  u64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (value >> 64n !== 0n) break;
        return value;
      }
    }
    throw new DecodeError("a number of more than 64 bits");
  }

  i32(): number {
    const folded = this.u32();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  /** The next `length` bytes, not copied. */
  take(length: number): Uint8Array {
    if (this.left < length) throw new DecodeError("too short");
    this.at += length;
    return this.data.subarray(this.at - length, this.at);
  }

  bytes(): Uint8Array {
    return this.take(this.count());
  }

  text(): string {
    try {
      return UTF8.decode(this.bytes());
    } catch {
      throw new DecodeError("a text that is not UTF-8");
    }
  }

  bool(): boolean {
    const byte = this.u8();
    if (1 < byte) throw new DecodeError("neither yes nor no");
    return byte === 1;
  }

  option<T>(read: () => T): T | null {
    const tag = this.u8();
    if (1 < tag) throw new DecodeError("an option that is neither there nor not");
    return tag === 1 ? read() : null;
  }

  list<T>(read: () => T): T[] {
    const length = this.count();
    // Each element takes at least one byte, so a larger count cannot be true.
    if (this.left < length) throw new DecodeError("too short");
    const list: T[] = [];
    for (let index = 0; index < length; index++) list.push(read());
    return list;
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const TO_UTF8 = new TextEncoder();

/** Writes into a buffer that grows. */
export class Writer {
  private data = new Uint8Array(64);
  private length = 0;

  done(): Uint8Array {
    return this.data.slice(0, this.length);
  }

  private room(count: number): void {
    const needed = this.length + count;
    if (needed <= this.data.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.data.length));
    grown.set(this.data.subarray(0, this.length));
    this.data = grown;
  }

  u8(value: number): this {
    this.room(1);
    this.data[this.length++] = value;
    return this;
  }

  /** An unsigned whole number below 2^53. */
  uint(value: number): this {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no unsigned whole number`);
    while (0x80 <= value) {
      this.u8((value % 0x80) | 0x80);
      value = Math.floor(value / 0x80);
    }
    return this.u8(value);
  }

  u64(value: bigint): this {
    if (value < 0n || value >> 64n !== 0n) throw new RangeError(`${value} has more than 64 bits`);
    while (0x80n <= value) {
      this.u8(Number(value & 0x7fn) | 0x80);
      value >>= 7n;
    }
    return this.u8(Number(value));
  }

  i32(value: number): this {
    if (value !== (value | 0)) throw new RangeError(`${value} is no whole number of 32 bits`);
    return this.uint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  raw(bytes: Uint8Array): this {
    this.room(bytes.length);
    this.data.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  bytes(bytes: Uint8Array): this {
    return this.uint(bytes.length).raw(bytes);
  }

  text(text: string): this {
    return this.bytes(TO_UTF8.encode(text));
  }
}
