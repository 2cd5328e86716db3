// The types of Kosmos, their bytes, and nothing else. Made by `ecumene schema --ts`: change the game, not this.

/** The name of the world. */
export const NAME = "Kosmos";

/** The hash of all types below: a server with another hash has another version of the game. */
export const SCHEMA = "1d8ef9b35e66687b";

export type State =
  | { kind: "Avatar"; value: Avatar }
  | { kind: "Rocket"; value: Rocket }
  | { kind: "Item"; value: Item }
  | { kind: "Npc"; value: Npc }
  | { kind: "Nest"; value: NpcKind }
  | { kind: "World"; value: Tally };

function writeState(out: Writer, value: State): void {
  switch (value.kind) {
    case "Avatar":
      out.variant(0);
      writeAvatar(out, value.value);
      return;
    case "Rocket":
      out.variant(1);
      writeRocket(out, value.value);
      return;
    case "Item":
      out.variant(2);
      writeItem(out, value.value);
      return;
    case "Npc":
      out.variant(3);
      writeNpc(out, value.value);
      return;
    case "Nest":
      out.variant(4);
      writeNpcKind(out, value.value);
      return;
    case "World":
      out.variant(5);
      writeTally(out, value.value);
      return;
    default:
      return unknownKind(value);
  }
}

function readState(input: Reader): State {
  switch (input.variant()) {
    case 0:
      return { kind: "Avatar", value: readAvatar(input) };
    case 1:
      return { kind: "Rocket", value: readRocket(input) };
    case 2:
      return { kind: "Item", value: readItem(input) };
    case 3:
      return { kind: "Npc", value: readNpc(input) };
    case 4:
      return { kind: "Nest", value: readNpcKind(input) };
    case 5:
      return { kind: "World", value: readTally(input) };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Avatar = {
  name: string;
  health: number;
  score: number;
  coins: number;
  bag: Array<Item>;
  offer: Offer | null;
  ready_at: Millis;
  stunned_until: Millis;
};

function writeAvatar(out: Writer, value: Avatar): void {
  out.string(value.name);
  out.u8(value.health);
  out.u32(value.score);
  out.u32(value.coins);
  out.list(value.bag, (it: Item) => { writeItem(out, it); });
  out.option(value.offer, (it: Offer) => { writeOffer(out, it); });
  writeMillis(out, value.ready_at);
  writeMillis(out, value.stunned_until);
}

function readAvatar(input: Reader): Avatar {
  return { name: input.string(), health: input.u8(), score: input.u32(), coins: input.u32(), bag: input.list((): Item => readItem(input)), offer: input.option((): Offer => readOffer(input)), ready_at: readMillis(input), stunned_until: readMillis(input) };
}

export type Item = {
  serial: Serial;
  kind: ItemKind;
};

function writeItem(out: Writer, value: Item): void {
  writeSerial(out, value.serial);
  writeItemKind(out, value.kind);
}

function readItem(input: Reader): Item {
  return { serial: readSerial(input), kind: readItemKind(input) };
}

export type Serial = ObjectId;

function writeSerial(out: Writer, value: Serial): void {
  writeObjectId(out, value);
}

function readSerial(input: Reader): Serial {
  return readObjectId(input);
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

export type ItemKind =
  | { kind: "Sword" }
  | { kind: "Shield" }
  | { kind: "Gem" }
  | { kind: "Map" }
  | { kind: "Flask" };

function writeItemKind(out: Writer, value: ItemKind): void {
  switch (value.kind) {
    case "Sword":
      out.variant(0);
      return;
    case "Shield":
      out.variant(1);
      return;
    case "Gem":
      out.variant(2);
      return;
    case "Map":
      out.variant(3);
      return;
    case "Flask":
      out.variant(4);
      return;
    default:
      return unknownKind(value);
  }
}

function readItemKind(input: Reader): ItemKind {
  switch (input.variant()) {
    case 0:
      return { kind: "Sword" };
    case 1:
      return { kind: "Shield" };
    case 2:
      return { kind: "Gem" };
    case 3:
      return { kind: "Map" };
    case 4:
      return { kind: "Flask" };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Offer = {
  to: ObjectId;
  give: Give;
  want: Want;
};

function writeOffer(out: Writer, value: Offer): void {
  writeObjectId(out, value.to);
  writeGive(out, value.give);
  writeWant(out, value.want);
}

function readOffer(input: Reader): Offer {
  return { to: readObjectId(input), give: readGive(input), want: readWant(input) };
}

export type Give = {
  coins: number;
  item: Item | null;
};

function writeGive(out: Writer, value: Give): void {
  out.u32(value.coins);
  out.option(value.item, (it: Item) => { writeItem(out, it); });
}

function readGive(input: Reader): Give {
  return { coins: input.u32(), item: input.option((): Item => readItem(input)) };
}

export type Want = {
  coins: number;
  kind: ItemKind | null;
};

function writeWant(out: Writer, value: Want): void {
  out.u32(value.coins);
  out.option(value.kind, (it: ItemKind) => { writeItemKind(out, it); });
}

function readWant(input: Reader): Want {
  return { coins: input.u32(), kind: input.option((): ItemKind => readItemKind(input)) };
}

export type Millis = bigint;

function writeMillis(out: Writer, value: Millis): void {
  out.u64(value);
}

function readMillis(input: Reader): Millis {
  return input.u64();
}

export type Rocket = {
  owner: ObjectId;
  expires_at: Millis;
};

function writeRocket(out: Writer, value: Rocket): void {
  writeObjectId(out, value.owner);
  writeMillis(out, value.expires_at);
}

function readRocket(input: Reader): Rocket {
  return { owner: readObjectId(input), expires_at: readMillis(input) };
}

export type Npc = {
  kind: NpcKind;
  health: number;
};

function writeNpc(out: Writer, value: Npc): void {
  writeNpcKind(out, value.kind);
  out.u8(value.health);
}

function readNpc(input: Reader): Npc {
  return { kind: readNpcKind(input), health: input.u8() };
}

export type NpcKind =
  | { kind: "Deer" }
  | { kind: "Hound" };

function writeNpcKind(out: Writer, value: NpcKind): void {
  switch (value.kind) {
    case "Deer":
      out.variant(0);
      return;
    case "Hound":
      out.variant(1);
      return;
    default:
      return unknownKind(value);
  }
}

function readNpcKind(input: Reader): NpcKind {
  switch (input.variant()) {
    case 0:
      return { kind: "Deer" };
    case 1:
      return { kind: "Hound" };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Tally = {
  felled: bigint;
  slain: bigint;
};

function writeTally(out: Writer, value: Tally): void {
  out.u64(value.felled);
  out.u64(value.slain);
}

function readTally(input: Reader): Tally {
  return { felled: input.u64(), slain: input.u64() };
}

export type Shown =
  | { kind: "Me"; value: Avatar }
  | { kind: "Avatar"; name: string; health: number; score: number; offer: Offer | null }
  | { kind: "Rocket"; owner: ObjectId }
  | { kind: "Item"; value: ItemKind }
  | { kind: "Npc"; value: Npc }
  | { kind: "Nest"; value: NpcKind }
  | { kind: "World"; value: Tally };

function writeShown(out: Writer, value: Shown): void {
  switch (value.kind) {
    case "Me":
      out.variant(0);
      writeAvatar(out, value.value);
      return;
    case "Avatar":
      out.variant(1);
      out.string(value.name);
      out.u8(value.health);
      out.u32(value.score);
      out.option(value.offer, (it: Offer) => { writeOffer(out, it); });
      return;
    case "Rocket":
      out.variant(2);
      writeObjectId(out, value.owner);
      return;
    case "Item":
      out.variant(3);
      writeItemKind(out, value.value);
      return;
    case "Npc":
      out.variant(4);
      writeNpc(out, value.value);
      return;
    case "Nest":
      out.variant(5);
      writeNpcKind(out, value.value);
      return;
    case "World":
      out.variant(6);
      writeTally(out, value.value);
      return;
    default:
      return unknownKind(value);
  }
}

function readShown(input: Reader): Shown {
  switch (input.variant()) {
    case 0:
      return { kind: "Me", value: readAvatar(input) };
    case 1:
      return { kind: "Avatar", name: input.string(), health: input.u8(), score: input.u32(), offer: input.option((): Offer => readOffer(input)) };
    case 2:
      return { kind: "Rocket", owner: readObjectId(input) };
    case 3:
      return { kind: "Item", value: readItemKind(input) };
    case 4:
      return { kind: "Npc", value: readNpc(input) };
    case 5:
      return { kind: "Nest", value: readNpcKind(input) };
    case 6:
      return { kind: "World", value: readTally(input) };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Action =
  | { kind: "Fire"; heading: Heading }
  | { kind: "PickUp"; item: ObjectId }
  | { kind: "Drop"; slot: number }
  | { kind: "OfferTrade"; to: ObjectId; give: Give; want: Want }
  | { kind: "WithdrawOffer" }
  | { kind: "AcceptTrade"; from: ObjectId; offer: Offer; pay: Serial | null }
  | { kind: "Say"; text: string };

function writeAction(out: Writer, value: Action): void {
  switch (value.kind) {
    case "Fire":
      out.variant(0);
      writeHeading(out, value.heading);
      return;
    case "PickUp":
      out.variant(1);
      writeObjectId(out, value.item);
      return;
    case "Drop":
      out.variant(2);
      out.u8(value.slot);
      return;
    case "OfferTrade":
      out.variant(3);
      writeObjectId(out, value.to);
      writeGive(out, value.give);
      writeWant(out, value.want);
      return;
    case "WithdrawOffer":
      out.variant(4);
      return;
    case "AcceptTrade":
      out.variant(5);
      writeObjectId(out, value.from);
      writeOffer(out, value.offer);
      out.option(value.pay, (it: Serial) => { writeSerial(out, it); });
      return;
    case "Say":
      out.variant(6);
      out.string(value.text);
      return;
    default:
      return unknownKind(value);
  }
}

function readAction(input: Reader): Action {
  switch (input.variant()) {
    case 0:
      return { kind: "Fire", heading: readHeading(input) };
    case 1:
      return { kind: "PickUp", item: readObjectId(input) };
    case 2:
      return { kind: "Drop", slot: input.u8() };
    case 3:
      return { kind: "OfferTrade", to: readObjectId(input), give: readGive(input), want: readWant(input) };
    case 4:
      return { kind: "WithdrawOffer" };
    case 5:
      return { kind: "AcceptTrade", from: readObjectId(input), offer: readOffer(input), pay: input.option((): Serial => readSerial(input)) };
    case 6:
      return { kind: "Say", text: input.string() };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Heading = number;

function writeHeading(out: Writer, value: Heading): void {
  out.u16(value);
}

function readHeading(input: Reader): Heading {
  return input.u16();
}

export type Notice =
  | { kind: "Blast"; place: Position }
  | { kind: "Felled"; victim: ObjectId; by: ObjectId }
  | { kind: "Said"; who: ObjectId; text: string }
  | { kind: "Traded"; from: ObjectId; to: ObjectId };

function writeNotice(out: Writer, value: Notice): void {
  switch (value.kind) {
    case "Blast":
      out.variant(0);
      writePosition(out, value.place);
      return;
    case "Felled":
      out.variant(1);
      writeObjectId(out, value.victim);
      writeObjectId(out, value.by);
      return;
    case "Said":
      out.variant(2);
      writeObjectId(out, value.who);
      out.string(value.text);
      return;
    case "Traded":
      out.variant(3);
      writeObjectId(out, value.from);
      writeObjectId(out, value.to);
      return;
    default:
      return unknownKind(value);
  }
}

function readNotice(input: Reader): Notice {
  switch (input.variant()) {
    case 0:
      return { kind: "Blast", place: readPosition(input) };
    case 1:
      return { kind: "Felled", victim: readObjectId(input), by: readObjectId(input) };
    case 2:
      return { kind: "Said", who: readObjectId(input), text: input.string() };
    case 3:
      return { kind: "Traded", from: readObjectId(input), to: readObjectId(input) };
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

export type Refusal =
  | { kind: "TooFar" }
  | { kind: "Gone" }
  | { kind: "Cooldown" }
  | { kind: "Full" }
  | { kind: "NoSuchSlot" }
  | { kind: "NotCarried" }
  | { kind: "Poor" }
  | { kind: "OfferChanged" }
  | { kind: "NotForYou" }
  | { kind: "WrongItem" }
  | { kind: "Dead" }
  | { kind: "Stunned" }
  | { kind: "TooFast" }
  | { kind: "TooLong" }
  | { kind: "NoAvatar" };

function writeRefusal(out: Writer, value: Refusal): void {
  switch (value.kind) {
    case "TooFar":
      out.variant(0);
      return;
    case "Gone":
      out.variant(1);
      return;
    case "Cooldown":
      out.variant(2);
      return;
    case "Full":
      out.variant(3);
      return;
    case "NoSuchSlot":
      out.variant(4);
      return;
    case "NotCarried":
      out.variant(5);
      return;
    case "Poor":
      out.variant(6);
      return;
    case "OfferChanged":
      out.variant(7);
      return;
    case "NotForYou":
      out.variant(8);
      return;
    case "WrongItem":
      out.variant(9);
      return;
    case "Dead":
      out.variant(10);
      return;
    case "Stunned":
      out.variant(11);
      return;
    case "TooFast":
      out.variant(12);
      return;
    case "TooLong":
      out.variant(13);
      return;
    case "NoAvatar":
      out.variant(14);
      return;
    default:
      return unknownKind(value);
  }
}

function readRefusal(input: Reader): Refusal {
  switch (input.variant()) {
    case 0:
      return { kind: "TooFar" };
    case 1:
      return { kind: "Gone" };
    case 2:
      return { kind: "Cooldown" };
    case 3:
      return { kind: "Full" };
    case 4:
      return { kind: "NoSuchSlot" };
    case 5:
      return { kind: "NotCarried" };
    case 6:
      return { kind: "Poor" };
    case 7:
      return { kind: "OfferChanged" };
    case 8:
      return { kind: "NotForYou" };
    case 9:
      return { kind: "WrongItem" };
    case 10:
      return { kind: "Dead" };
    case 11:
      return { kind: "Stunned" };
    case 12:
      return { kind: "TooFast" };
    case 13:
      return { kind: "TooLong" };
    case 14:
      return { kind: "NoAvatar" };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export type Letter =
  | { kind: "Settle"; low: Position; high: Position }
  | { kind: "Brood"; value: NpcKind }
  | { kind: "Hatch" }
  | { kind: "Rise" }
  | { kind: "Scored"; value: number }
  | { kind: "Count"; value: Tally };

function writeLetter(out: Writer, value: Letter): void {
  switch (value.kind) {
    case "Settle":
      out.variant(0);
      writePosition(out, value.low);
      writePosition(out, value.high);
      return;
    case "Brood":
      out.variant(1);
      writeNpcKind(out, value.value);
      return;
    case "Hatch":
      out.variant(2);
      return;
    case "Rise":
      out.variant(3);
      return;
    case "Scored":
      out.variant(4);
      out.u32(value.value);
      return;
    case "Count":
      out.variant(5);
      writeTally(out, value.value);
      return;
    default:
      return unknownKind(value);
  }
}

function readLetter(input: Reader): Letter {
  switch (input.variant()) {
    case 0:
      return { kind: "Settle", low: readPosition(input), high: readPosition(input) };
    case 1:
      return { kind: "Brood", value: readNpcKind(input) };
    case 2:
      return { kind: "Hatch" };
    case 3:
      return { kind: "Rise" };
    case 4:
      return { kind: "Scored", value: input.u32() };
    case 5:
      return { kind: "Count", value: readTally(input) };
    default:
      throw new DecodeError("an unknown variant");
  }
}

export function encodeState(value: State): Uint8Array {
  const out = new Writer();
  writeState(out, value);
  return out.done();
}

export function decodeState(bytes: Uint8Array): State {
  const input = new Reader(bytes);
  const value: State = readState(input);
  input.end();
  return value;
}

export function encodeShown(value: Shown): Uint8Array {
  const out = new Writer();
  writeShown(out, value);
  return out.done();
}

export function decodeShown(bytes: Uint8Array): Shown {
  const input = new Reader(bytes);
  const value: Shown = readShown(input);
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

export function encodeNotice(value: Notice): Uint8Array {
  const out = new Writer();
  writeNotice(out, value);
  return out.done();
}

export function decodeNotice(bytes: Uint8Array): Notice {
  const input = new Reader(bytes);
  const value: Notice = readNotice(input);
  input.end();
  return value;
}

export function encodeRefusal(value: Refusal): Uint8Array {
  const out = new Writer();
  writeRefusal(out, value);
  return out.done();
}

export function decodeRefusal(bytes: Uint8Array): Refusal {
  const input = new Reader(bytes);
  const value: Refusal = readRefusal(input);
  input.end();
  return value;
}

export function encodeLetter(value: Letter): Uint8Array {
  const out = new Writer();
  writeLetter(out, value);
  return out.done();
}

export function decodeLetter(bytes: Uint8Array): Letter {
  const input = new Reader(bytes);
  const value: Letter = readLetter(input);
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
