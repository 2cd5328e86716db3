// The types of Orchard, their bytes, and nothing else. Made by `ecumene schema --ts`: change the game, not this.

/** The name of the world. */
export const NAME = "Orchard";

/** The hash of all types below: a server with another hash has another version of the game. */
export const SCHEMA = "24bc9236692b002f";

export type OrchardState =
  | { kind: "Tree"; ripe: boolean }
  | { kind: "Picker"; name: string; apples: number };

function writeOrchardState(out: Writer, value: OrchardState): void {
  switch (value.kind) {
    case "Tree":
      out.variant(0);
      out.bool(value.ripe);
      return;
    case "Picker":
      out.variant(1);
      out.string(value.name);
      out.u32(value.apples);
      return;
    default:
      return unknownKind(value);
  }
}

function readOrchardState(input: Reader): OrchardState {
  switch (input.variant()) {
    case 0:
      return { kind: "Tree", ripe: input.bool() };
    case 1:
      return { kind: "Picker", name: input.string(), apples: input.u32() };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type OrchardShown =
  | { kind: "Tree"; ripe: boolean }
  | { kind: "Picker"; name: string; apples: number | null };

function writeOrchardShown(out: Writer, value: OrchardShown): void {
  switch (value.kind) {
    case "Tree":
      out.variant(0);
      out.bool(value.ripe);
      return;
    case "Picker":
      out.variant(1);
      out.string(value.name);
      out.option(value.apples, (it: number) => { out.u32(it); });
      return;
    default:
      return unknownKind(value);
  }
}

function readOrchardShown(input: Reader): OrchardShown {
  switch (input.variant()) {
    case 0:
      return { kind: "Tree", ripe: input.bool() };
    case 1:
      return { kind: "Picker", name: input.string(), apples: input.option((): number => input.u32()) };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type OrchardAction =
  | { kind: "Pick"; tree: ObjectId }
  | { kind: "Give"; to: ObjectId; apples: number };

function writeOrchardAction(out: Writer, value: OrchardAction): void {
  switch (value.kind) {
    case "Pick":
      out.variant(0);
      writeObjectId(out, value.tree);
      return;
    case "Give":
      out.variant(1);
      writeObjectId(out, value.to);
      out.u32(value.apples);
      return;
    default:
      return unknownKind(value);
  }
}

function readOrchardAction(input: Reader): OrchardAction {
  switch (input.variant()) {
    case 0:
      return { kind: "Pick", tree: readObjectId(input) };
    case 1:
      return { kind: "Give", to: readObjectId(input), apples: input.u32() };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type ObjectId = {
  zone: ZoneId;
  epoch: Epoch;
  counter: number;
};

function writeObjectId(out: Writer, value: ObjectId): void {
  writeZoneId(out, value.zone);
  writeEpoch(out, value.epoch);
  out.u32(value.counter);
}

function readObjectId(input: Reader): ObjectId {
  return { zone: readZoneId(input), epoch: readEpoch(input), counter: input.u32() };
}

export type ZoneId = number;

function writeZoneId(out: Writer, value: ZoneId): void {
  out.u32(value);
}

function readZoneId(input: Reader): ZoneId {
  return input.u32();
}

export type Epoch = number;

function writeEpoch(out: Writer, value: Epoch): void {
  out.u32(value);
}

function readEpoch(input: Reader): Epoch {
  return input.u32();
}

export type OrchardNotice =
  | { kind: "Crunch" }
  | { kind: "Gift"; apples: number };

function writeOrchardNotice(out: Writer, value: OrchardNotice): void {
  switch (value.kind) {
    case "Crunch":
      out.variant(0);
      return;
    case "Gift":
      out.variant(1);
      out.u32(value.apples);
      return;
    default:
      return unknownKind(value);
  }
}

function readOrchardNotice(input: Reader): OrchardNotice {
  switch (input.variant()) {
    case 0:
      return { kind: "Crunch" };
    case 1:
      return { kind: "Gift", apples: input.u32() };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type OrchardRefusal =
  | { kind: "TooFar" }
  | { kind: "NothingThere" }
  | { kind: "NotEnough"; have: number }
  | { kind: "TooFast" };

function writeOrchardRefusal(out: Writer, value: OrchardRefusal): void {
  switch (value.kind) {
    case "TooFar":
      out.variant(0);
      return;
    case "NothingThere":
      out.variant(1);
      return;
    case "NotEnough":
      out.variant(2);
      out.u32(value.have);
      return;
    case "TooFast":
      out.variant(3);
      return;
    default:
      return unknownKind(value);
  }
}

function readOrchardRefusal(input: Reader): OrchardRefusal {
  switch (input.variant()) {
    case 0:
      return { kind: "TooFar" };
    case 1:
      return { kind: "NothingThere" };
    case 2:
      return { kind: "NotEnough", have: input.u32() };
    case 3:
      return { kind: "TooFast" };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Ripen = null;

function writeRipen(_out: Writer, _value: Ripen): void {}

function readRipen(_input: Reader): Ripen {
  return null;
}

export type State = OrchardState;

export function encodeState(value: State): Uint8Array {
  const out = new Writer();
  writeOrchardState(out, value);
  return out.done();
}

export function decodeState(bytes: Uint8Array): State {
  const input = new Reader(bytes);
  const value: State = readOrchardState(input);
  input.end();
  return value;
}

export type Shown = OrchardShown;

export function encodeShown(value: Shown): Uint8Array {
  const out = new Writer();
  writeOrchardShown(out, value);
  return out.done();
}

export function decodeShown(bytes: Uint8Array): Shown {
  const input = new Reader(bytes);
  const value: Shown = readOrchardShown(input);
  input.end();
  return value;
}

export type Action = OrchardAction;

export function encodeAction(value: Action): Uint8Array {
  const out = new Writer();
  writeOrchardAction(out, value);
  return out.done();
}

export function decodeAction(bytes: Uint8Array): Action {
  const input = new Reader(bytes);
  const value: Action = readOrchardAction(input);
  input.end();
  return value;
}

export type Notice = OrchardNotice;

export function encodeNotice(value: Notice): Uint8Array {
  const out = new Writer();
  writeOrchardNotice(out, value);
  return out.done();
}

export function decodeNotice(bytes: Uint8Array): Notice {
  const input = new Reader(bytes);
  const value: Notice = readOrchardNotice(input);
  input.end();
  return value;
}

export type Refusal = OrchardRefusal;

export function encodeRefusal(value: Refusal): Uint8Array {
  const out = new Writer();
  writeOrchardRefusal(out, value);
  return out.done();
}

export function decodeRefusal(bytes: Uint8Array): Refusal {
  const input = new Reader(bytes);
  const value: Refusal = readOrchardRefusal(input);
  input.end();
  return value;
}

export type Letter = Ripen;

export function encodeLetter(value: Letter): Uint8Array {
  const out = new Writer();
  writeRipen(out, value);
  return out.done();
}

export function decodeLetter(bytes: Uint8Array): Letter {
  const input = new Reader(bytes);
  const value: Letter = readRipen(input);
  input.end();
  return value;
}

/** Bytes that are no value of the type asked for. */
export class DecodeError extends Error {
  override name = "DecodeError";
}

/** A value that is none of its type: a fraction, a number out of range, half a letter. */
export class EncodeError extends Error {
  override name = "EncodeError";
}

function unknownKind(value: unknown): never {
  throw new EncodeError(`no variant is called ${String((value as { kind?: unknown }).kind)}`);
}

/**
 * Reads postcard's format (https://postcard.jamesmunns.com/wire-format), byte by byte.
 *
 * Bytes are wrong until proven right. Whatever claims a length is checked against the bytes that are left, so no
 * input makes more than its own size of anything.
 */
class Reader {
  private readonly data: Uint8Array;
  private readonly view: DataView;
  private at = 0;

  constructor(data: Uint8Array) {
    this.data = data;
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** Nothing may follow. */
  end(): void {
    if (this.at !== this.data.length) throw new DecodeError(`${this.data.length - this.at} bytes follow`);
  }

  /** Where the next `count` bytes start. */
  private take(count: number): number {
    const start = this.at;
    if (this.data.length - start < count) throw new DecodeError("too short");
    this.at += count;
    return start;
  }

  /** An unsigned number of at most 32 bits: seven bits a byte, lowest first. */
  private varint(bits: number): number {
    const last = Math.ceil(bits / 7) - 1;
    let value = 0;
    for (let index = 0; index <= last; index++) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80 && (index < last || byte >> (bits - 7 * last) === 0)) return value;
      if (byte < 0x80) break;
    }
    throw new DecodeError(`a number of more than ${bits} bits`);
  }

  /** The same for wider ones. */
  private bigVarint(bits: number): bigint {
    const last = Math.ceil(bits / 7) - 1;
    let value = 0n;
    for (let index = 0; index <= last; index++) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80 && (index < last || byte >> (bits - 7 * last) === 0)) return value;
      if (byte < 0x80) break;
    }
    throw new DecodeError(`a number of more than ${bits} bits`);
  }

  /** A length, of things that take at least a byte each. */
  private length(): number {
    const length = this.bigVarint(64);
    if (BigInt(this.data.length - this.at) < length) throw new DecodeError("too short");
    return Number(length);
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }

  i8(): number {
    return this.view.getInt8(this.take(1));
  }

  u16(): number {
    return this.varint(16);
  }

  u32(): number {
    return this.varint(32);
  }

  i16(): number {
    return unfolded(this.varint(16));
  }

  i32(): number {
    return unfolded(this.varint(32));
  }

  u64(): bigint {
    return this.bigVarint(64);
  }

  u128(): bigint {
    return this.bigVarint(128);
  }

  usize(): bigint {
    return this.bigVarint(64);
  }

  i64(): bigint {
    return bigUnfolded(this.bigVarint(64));
  }

  i128(): bigint {
    return bigUnfolded(this.bigVarint(128));
  }

  isize(): bigint {
    return bigUnfolded(this.bigVarint(64));
  }

  f32(): number {
    return this.view.getFloat32(this.take(4), true);
  }

  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  bool(): boolean {
    const tag = this.u8();
    if (1 < tag) throw new DecodeError(`${tag} is neither false nor true`);
    return tag === 1;
  }

  variant(): number {
    return this.varint(32);
  }

  bytes(): Uint8Array {
    const length = this.length();
    const start = this.take(length);
    return this.data.slice(start, start + length);
  }

  string(): string {
    const bytes = this.bytes();
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new DecodeError("a text that is not UTF-8");
    }
  }

  char(): string {
    const letter = this.string();
    if (!isOneLetter(letter)) throw new DecodeError("not one letter");
    return letter;
  }

  option<T>(read: () => T): T | null {
    const tag = this.u8();
    if (1 < tag) throw new DecodeError(`${tag} is neither none nor some`);
    return tag === 1 ? read() : null;
  }

  wrapped<T>(read: () => T): { some: T } | null {
    return this.option(() => ({ some: read() }));
  }

  list<T>(read: () => T): Array<T> {
    return this.array(this.length(), read);
  }

  array<T>(length: number, read: () => T): Array<T> {
    const list: Array<T> = [];
    for (let index = 0; index < length; index++) list.push(read());
    return list;
  }

  map<K, V>(readKey: () => K, readValue: () => V): Map<K, V> {
    const map = new Map<K, V>();
    for (let left = this.length(); 0 < left; left--) {
      const key = readKey();
      map.set(key, readValue());
    }
    return map;
  }
}

/** Writes postcard's format. */
class Writer {
  private readonly data: number[] = [];

  done(): Uint8Array {
    return Uint8Array.from(this.data);
  }

  private varint(value: number): void {
    while (0x7f < value) {
      this.data.push((value % 0x80) | 0x80);
      value = Math.floor(value / 0x80);
    }
    this.data.push(value);
  }

  private bigVarint(value: bigint): void {
    while (0x7fn < value) {
      this.data.push(Number(value & 0x7fn) | 0x80);
      value >>= 7n;
    }
    this.data.push(Number(value));
  }

  u8(value: number): void {
    this.data.push(whole(value, 0, 0xff));
  }

  i8(value: number): void {
    this.data.push(whole(value, -0x80, 0x7f) & 0xff);
  }

  u16(value: number): void {
    this.varint(whole(value, 0, 0xffff));
  }

  u32(value: number): void {
    this.varint(whole(value, 0, 0xffffffff));
  }

  i16(value: number): void {
    this.varint(folded(whole(value, -0x8000, 0x7fff)));
  }

  i32(value: number): void {
    this.varint(folded(whole(value, -0x80000000, 0x7fffffff)));
  }

  u64(value: bigint): void {
    this.bigVarint(bigUnsigned(value, 64));
  }

  u128(value: bigint): void {
    this.bigVarint(bigUnsigned(value, 128));
  }

  usize(value: bigint): void {
    this.bigVarint(bigUnsigned(value, 64));
  }

  i64(value: bigint): void {
    this.bigVarint(bigFolded(bigSigned(value, 64)));
  }

  i128(value: bigint): void {
    this.bigVarint(bigFolded(bigSigned(value, 128)));
  }

  isize(value: bigint): void {
    this.bigVarint(bigFolded(bigSigned(value, 64)));
  }

  f32(value: number): void {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.data.push(...bytes);
  }

  f64(value: number): void {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.data.push(...bytes);
  }

  bool(value: boolean): void {
    this.data.push(value ? 1 : 0);
  }

  variant(index: number): void {
    this.varint(index);
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    for (const byte of value) this.data.push(byte);
  }

  string(value: string): void {
    // TextEncoder would quietly replace half a letter by a question mark.
    if (/\p{Surrogate}/u.test(value)) throw new EncodeError("a text with half a letter in it");
    this.bytes(new TextEncoder().encode(value));
  }

  char(value: string): void {
    if (!isOneLetter(value)) throw new EncodeError(`"${value}" is not one letter`);
    this.string(value);
  }

  option<T>(value: T | null, write: (value: T) => void): void {
    this.bool(value !== null);
    if (value !== null) write(value);
  }

  wrapped<T>(value: { some: T } | null, write: (value: T) => void): void {
    this.option(value, (it) => write(it.some));
  }

  list<T>(value: Array<T>, write: (value: T) => void): void {
    this.varint(value.length);
    value.forEach((it) => write(it));
  }

  array<T>(value: Array<T>, length: number, write: (value: T) => void): void {
    if (value.length !== length) throw new EncodeError(`${value.length} values instead of ${length}`);
    value.forEach((it) => write(it));
  }

  map<K, V>(value: Map<K, V>, writeKey: (key: K) => void, writeValue: (value: V) => void): void {
    this.varint(value.size);
    value.forEach((it, key) => {
      writeKey(key);
      writeValue(it);
    });
  }
}

/** Small numbers of either sign become small unsigned ones: 0, -1, 1, -2, … */
function folded(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

function unfolded(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}

function bigFolded(value: bigint): bigint {
  return value < 0n ? -2n * value - 1n : 2n * value;
}

function bigUnfolded(value: bigint): bigint {
  return (value >> 1n) ^ -(value & 1n);
}

function whole(value: number, low: number, high: number): number {
  if (!Number.isInteger(value) || value < low || high < value) {
    throw new EncodeError(`${value} is no whole number from ${low} to ${high}`);
  }
  return value;
}

function bigUnsigned(value: bigint, bits: number): bigint {
  if (BigInt.asUintN(bits, value) !== value) throw new EncodeError(`${value} has no ${bits} unsigned bits`);
  return value;
}

function bigSigned(value: bigint, bits: number): bigint {
  if (BigInt.asIntN(bits, value) !== value) throw new EncodeError(`${value} has no ${bits} signed bits`);
  return value;
}

function isOneLetter(text: string): boolean {
  return [...text].length === 1;
}
