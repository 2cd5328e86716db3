// The types of Kinds, their bytes, and nothing else. Made by `ecumene schema --ts`: change the game, not this.

/** The name of the world. */
export const NAME = "Kinds";

/** The hash of all types below: a server with another hash has another version of the game. */
export const SCHEMA = "e1e44bc75b82990c";

export type Everything =
  | { kind: "Small"; flag: boolean; tiny: number; byte: number; short: [number, number]; int: [number, number] }
  | { kind: "Large"; long: [bigint, bigint]; huge: [bigint, bigint]; size: Size }
  | { kind: "Broken"; float: number; double: number }
  | { kind: "Texts"; letter: string; text: string; bytes: Uint8Array; raw: Uint8Array }
  | { kind: "Options"; maybe: number | null; nested: { some: boolean | null } | null; unit: { some: Unit } | null }
  | { kind: "Nothings"; nothing: null; unit: Unit; empty: Empty }
  | { kind: "Tuples"; one: [number]; many: Array<number>; few: [number, number]; pair: Pair }
  | { kind: "Lists"; list: Array<Choice>; lists: Array<Array<[number, boolean]>> }
  | { kind: "Maps"; table: Map<string, bigint>; tables: Map<number, Map<Twin, string | null>> }
  | { kind: "Named"; value: Named };

function writeEverything(out: Writer, value: Everything): void {
  switch (value.kind) {
    case "Small":
      out.variant(0);
      out.bool(value.flag);
      out.i8(value.tiny);
      out.u8(value.byte);
      out.i16(value.short[0]); out.u16(value.short[1]);
      out.i32(value.int[0]); out.u32(value.int[1]);
      return;
    case "Large":
      out.variant(1);
      out.i64(value.long[0]); out.u64(value.long[1]);
      out.i128(value.huge[0]); out.u128(value.huge[1]);
      writeSize(out, value.size);
      return;
    case "Broken":
      out.variant(2);
      out.f32(value.float);
      out.f64(value.double);
      return;
    case "Texts":
      out.variant(3);
      out.char(value.letter);
      out.string(value.text);
      out.bytes(value.bytes);
      out.bytes(value.raw);
      return;
    case "Options":
      out.variant(4);
      out.option(value.maybe, (it: number) => { out.u32(it); });
      out.wrapped(value.nested, (it: boolean | null) => { out.option(it, (it: boolean) => { out.bool(it); }); });
      out.wrapped(value.unit, (it: Unit) => { writeUnit(out, it); });
      return;
    case "Nothings":
      out.variant(5);
      writeUnit(out, value.unit);
      writeEmpty(out, value.empty);
      return;
    case "Tuples":
      out.variant(6);
      out.u8(value.one[0]);
      out.array(value.many, 8, (it: number) => { out.u16(it); });
      out.u8(value.few[0]); out.u8(value.few[1]);
      writePair(out, value.pair);
      return;
    case "Lists":
      out.variant(7);
      out.list(value.list, (it: Choice) => { writeChoice(out, it); });
      out.list(value.lists, (it: Array<[number, boolean]>) => { out.list(it, (it: [number, boolean]) => { out.u8(it[0]); out.bool(it[1]); }); });
      return;
    case "Maps":
      out.variant(8);
      out.map(value.table, (it: string) => { out.string(it); }, (it: bigint) => { out.u64(it); });
      out.map(value.tables, (it: number) => { out.u8(it); }, (it: Map<Twin, string | null>) => { out.map(it, (it: Twin) => { writeTwin(out, it); }, (it: string | null) => { out.option(it, (it: string) => { out.string(it); }); }); });
      return;
    case "Named":
      out.variant(9);
      writeNamed(out, value.value);
      return;
    default:
      return unknownKind(value);
  }
}

function readEverything(input: Reader): Everything {
  switch (input.variant()) {
    case 0:
      return { kind: "Small", flag: input.bool(), tiny: input.i8(), byte: input.u8(), short: [input.i16(), input.u16()], int: [input.i32(), input.u32()] };
    case 1:
      return { kind: "Large", long: [input.i64(), input.u64()], huge: [input.i128(), input.u128()], size: readSize(input) };
    case 2:
      return { kind: "Broken", float: input.f32(), double: input.f64() };
    case 3:
      return { kind: "Texts", letter: input.char(), text: input.string(), bytes: input.bytes(), raw: input.bytes() };
    case 4:
      return { kind: "Options", maybe: input.option((): number => input.u32()), nested: input.wrapped((): boolean | null => input.option((): boolean => input.bool())), unit: input.wrapped((): Unit => readUnit(input)) };
    case 5:
      return { kind: "Nothings", nothing: null, unit: readUnit(input), empty: readEmpty(input) };
    case 6:
      return { kind: "Tuples", one: [input.u8()], many: input.array(8, (): number => input.u16()), few: [input.u8(), input.u8()], pair: readPair(input) };
    case 7:
      return { kind: "Lists", list: input.list((): Choice => readChoice(input)), lists: input.list((): Array<[number, boolean]> => input.list((): [number, boolean] => [input.u8(), input.bool()])) };
    case 8:
      return { kind: "Maps", table: input.map((): string => input.string(), (): bigint => input.u64()), tables: input.map((): number => input.u8(), (): Map<Twin, string | null> => input.map((): Twin => readTwin(input), (): string | null => input.option((): string => input.string()))) };
    case 9:
      return { kind: "Named", value: readNamed(input) };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Size = [bigint, bigint];

function writeSize(out: Writer, value: Size): void {
  out.usize(value[0]); out.isize(value[1]);
}

function readSize(input: Reader): Size {
  return [input.usize(), input.isize()];
}

export type Unit = null;

function writeUnit(_out: Writer, _value: Unit): void {}

function readUnit(_input: Reader): Unit {
  return null;
}

export type Empty = Record<string, never>;

function writeEmpty(_out: Writer, _value: Empty): void {}

function readEmpty(_input: Reader): Empty {
  return {};
}

export type Pair = [number, Choice];

function writePair(out: Writer, value: Pair): void {
  out.u8(value[0]); writeChoice(out, value[1]);
}

function readPair(input: Reader): Pair {
  return [input.u8(), readChoice(input)];
}

export type Choice =
  | { kind: "Unit" }
  | { kind: "New"; value: number }
  | { kind: "Tuple"; value: [number, bigint] }
  | { kind: "Struct"; kind_: number; kind__: boolean; fn: boolean }
  | { kind: "Empty" }
  | { kind: "with space"; value: Map2 };

function writeChoice(out: Writer, value: Choice): void {
  switch (value.kind) {
    case "Unit":
      out.variant(0);
      return;
    case "New":
      out.variant(1);
      out.u32(value.value);
      return;
    case "Tuple":
      out.variant(2);
      out.u8(value.value[0]); out.i64(value.value[1]);
      return;
    case "Struct":
      out.variant(3);
      out.u8(value.kind_);
      out.bool(value.kind__);
      out.bool(value.fn);
      return;
    case "Empty":
      out.variant(4);
      return;
    case "with space":
      out.variant(5);
      writeMap2(out, value.value);
      return;
    default:
      return unknownKind(value);
  }
}

function readChoice(input: Reader): Choice {
  switch (input.variant()) {
    case 0:
      return { kind: "Unit" };
    case 1:
      return { kind: "New", value: input.u32() };
    case 2:
      return { kind: "Tuple", value: [input.u8(), input.i64()] };
    case 3:
      return { kind: "Struct", kind_: input.u8(), kind__: input.bool(), fn: input.bool() };
    case 4:
      return { kind: "Empty" };
    case 5:
      return { kind: "with space", value: readMap2(input) };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Map2 = { some: null } | null;

function writeMap2(out: Writer, value: Map2): void {
  out.wrapped(value, (_it: null) => {  });
}

function readMap2(input: Reader): Map2 {
  return input.wrapped((): null => null);
}

export type Twin = number;

function writeTwin(out: Writer, value: Twin): void {
  out.u32(value);
}

function readTwin(input: Reader): Twin {
  return input.u32();
}

export type Named = {
  twin: Twin2;
  ok: Result;
  at: Position;
  type: number;
  "my-name": number;
};

function writeNamed(out: Writer, value: Named): void {
  writeTwin2(out, value.twin);
  writeResult(out, value.ok);
  writePosition(out, value.at);
  out.u8(value.type);
  out.u8(value["my-name"]);
}

function readNamed(input: Reader): Named {
  return { twin: readTwin2(input), ok: readResult(input), at: readPosition(input), type: input.u8(), "my-name": input.u8() };
}

export type Twin2 = {
  of: Twin;
};

function writeTwin2(out: Writer, value: Twin2): void {
  writeTwin(out, value.of);
}

function readTwin2(input: Reader): Twin2 {
  return { of: readTwin(input) };
}

export type Result =
  | { kind: "Ok"; value: [number] }
  | { kind: "Err"; value: [string] };

function writeResult(out: Writer, value: Result): void {
  switch (value.kind) {
    case "Ok":
      out.variant(0);
      out.u8(value.value[0]);
      return;
    case "Err":
      out.variant(1);
      out.string(value.value[0]);
      return;
    default:
      return unknownKind(value);
  }
}

function readResult(input: Reader): Result {
  switch (input.variant()) {
    case 0:
      return { kind: "Ok", value: [input.u8()] };
    case 1:
      return { kind: "Err", value: [input.string()] };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Position = {
  x: number;
  y: number;
};

function writePosition(out: Writer, value: Position): void {
  out.i32(value.x);
  out.i32(value.y);
}

function readPosition(input: Reader): Position {
  return { x: input.i32(), y: input.i32() };
}

export type Action =
  | { kind: "Flag"; value: boolean }
  | { kind: "U16"; value: number }
  | { kind: "U32"; value: number }
  | { kind: "U64"; value: bigint }
  | { kind: "U128"; value: bigint }
  | { kind: "I16"; value: number }
  | { kind: "Text"; value: string }
  | { kind: "Maybe"; value: number | null }
  | { kind: "Letter"; value: string }
  | { kind: "List"; value: Array<number> }
  | { kind: "Map"; value: Map<number, number> }
  | { kind: "Bytes"; value: Uint8Array }
  | { kind: "Float"; value: number }
  | { kind: "Array"; value: Array<number> }
  | { kind: "Inner"; value: Notice2 };

function writeAction(out: Writer, value: Action): void {
  switch (value.kind) {
    case "Flag":
      out.variant(0);
      out.bool(value.value);
      return;
    case "U16":
      out.variant(1);
      out.u16(value.value);
      return;
    case "U32":
      out.variant(2);
      out.u32(value.value);
      return;
    case "U64":
      out.variant(3);
      out.u64(value.value);
      return;
    case "U128":
      out.variant(4);
      out.u128(value.value);
      return;
    case "I16":
      out.variant(5);
      out.i16(value.value);
      return;
    case "Text":
      out.variant(6);
      out.string(value.value);
      return;
    case "Maybe":
      out.variant(7);
      out.option(value.value, (it: number) => { out.u8(it); });
      return;
    case "Letter":
      out.variant(8);
      out.char(value.value);
      return;
    case "List":
      out.variant(9);
      out.list(value.value, (it: number) => { out.u32(it); });
      return;
    case "Map":
      out.variant(10);
      out.map(value.value, (it: number) => { out.u8(it); }, (it: number) => { out.u8(it); });
      return;
    case "Bytes":
      out.variant(11);
      out.bytes(value.value);
      return;
    case "Float":
      out.variant(12);
      out.f32(value.value);
      return;
    case "Array":
      out.variant(13);
      out.array(value.value, 6, (it: number) => { out.u8(it); });
      return;
    case "Inner":
      out.variant(14);
      writeNotice2(out, value.value);
      return;
    default:
      return unknownKind(value);
  }
}

function readAction(input: Reader): Action {
  switch (input.variant()) {
    case 0:
      return { kind: "Flag", value: input.bool() };
    case 1:
      return { kind: "U16", value: input.u16() };
    case 2:
      return { kind: "U32", value: input.u32() };
    case 3:
      return { kind: "U64", value: input.u64() };
    case 4:
      return { kind: "U128", value: input.u128() };
    case 5:
      return { kind: "I16", value: input.i16() };
    case 6:
      return { kind: "Text", value: input.string() };
    case 7:
      return { kind: "Maybe", value: input.option((): number => input.u8()) };
    case 8:
      return { kind: "Letter", value: input.char() };
    case 9:
      return { kind: "List", value: input.list((): number => input.u32()) };
    case 10:
      return { kind: "Map", value: input.map((): number => input.u8(), (): number => input.u8()) };
    case 11:
      return { kind: "Bytes", value: input.bytes() };
    case 12:
      return { kind: "Float", value: input.f32() };
    case 13:
      return { kind: "Array", value: input.array(6, (): number => input.u8()) };
    case 14:
      return { kind: "Inner", value: readNotice2(input) };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Notice2 = {
  x: number;
};

function writeNotice2(out: Writer, value: Notice2): void {
  out.u8(value.x);
}

function readNotice2(input: Reader): Notice2 {
  return { x: input.u8() };
}

export type Only =
  | { kind: "No" };

function writeOnly(out: Writer, value: Only): void {
  switch (value.kind) {
    case "No":
      out.variant(0);
      return;
    default:
      return unknownKind(value);
  }
}

function readOnly(input: Reader): Only {
  switch (input.variant()) {
    case 0:
      return { kind: "No" };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Never = never;

function writeNever(_out: Writer, value: Never): void {
  throw new EncodeError(`${value as unknown} is no value of a type that has none`);
}

function readNever(input: Reader): Never {
  switch (input.variant()) {
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type State = Everything;

export function encodeState(value: State): Uint8Array {
  const out = new Writer();
  writeEverything(out, value);
  return out.done();
}

export function decodeState(bytes: Uint8Array): State {
  const input = new Reader(bytes);
  const value: State = readEverything(input);
  input.end();
  return value;
}

export type Shown = null;

export function encodeShown(_value: Shown): Uint8Array {
  const out = new Writer();
  return out.done();
}

export function decodeShown(bytes: Uint8Array): Shown {
  const input = new Reader(bytes);
  const value: Shown = null;
  input.end();
  return value;
}

export function encodeAction(value: Action): Uint8Array {
  const out = new Writer();
  writeAction(out, value);
  return out.done();
}

export function decodeAction(bytes: Uint8Array): Action {
  const input = new Reader(bytes);
  const value: Action = readAction(input);
  input.end();
  return value;
}

export type Notice = Choice;

export function encodeNotice(value: Notice): Uint8Array {
  const out = new Writer();
  writeChoice(out, value);
  return out.done();
}

export function decodeNotice(bytes: Uint8Array): Notice {
  const input = new Reader(bytes);
  const value: Notice = readChoice(input);
  input.end();
  return value;
}

export type Refusal = Only;

export function encodeRefusal(value: Refusal): Uint8Array {
  const out = new Writer();
  writeOnly(out, value);
  return out.done();
}

export function decodeRefusal(bytes: Uint8Array): Refusal {
  const input = new Reader(bytes);
  const value: Refusal = readOnly(input);
  input.end();
  return value;
}

export type Letter = Never;

export function encodeLetter(value: Letter): Uint8Array {
  const out = new Writer();
  writeNever(out, value);
  return out.done();
}

export function decodeLetter(bytes: Uint8Array): Letter {
  const input = new Reader(bytes);
  const value: Letter = readNever(input);
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
