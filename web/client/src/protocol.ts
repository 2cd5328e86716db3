// Messages between a player and a zone (crates/zone/src/msg.rs).

import { DecodeError, Reader, Writer } from "./bytes.ts";
import { type Motion, readMotion, writeMotion } from "./motion.ts";
import { type ObjectId, readObject } from "./object.ts";

/** The address of a replica: its host and its zone. */
export interface Address {
  host: number;
  zone: number;
}

/** The last record of a zone that the player has received. */
export interface LastRecord {
  zone: number;
  epoch: number;
  index: number;
}

/** A message from a player to a zone. */
export type FromPlayer =
  | { kind: "Enter"; player: bigint; session: bigint; name: string; seen: LastRecord | null }
  | { kind: "Act"; number: number; acked: number; motion: Motion; action: Uint8Array }
  | { kind: "Move"; motion: Motion }
  | { kind: "Ack"; acked: number }
  | { kind: "Leave" };

/** An object as a player may see it. */
export interface ShownObject {
  object: ObjectId;
  incarnation: number;
  version: number;
  motion: Motion;
  /** The game's `Shown`. */
  shown: Uint8Array;
}

/** The result of an action. */
export type Outcome =
  | { kind: "Done" }
  | { kind: "Refused"; refusal: Uint8Array }
  | { kind: "Fault"; why: string }
  /** Too many events wait for the same objects; nothing happened. */
  | { kind: "Busy" };

/** The reason why a zone does not let a player in. */
export type Closed = "Superseded" | "Full" | "Refused";

/** A message from a zone to a player. Times are milliseconds of world time. */
export type ToPlayer =
  | {
      kind: "Entered";
      avatar: ObjectId;
      /** Number of owners of the avatar so far: the player believes the latest one. */
      incarnation: number;
      /** True if the zone lost its last records in a full stop, and with them some that this player has received. */
      lost: boolean;
      motion: Motion;
      cursor: number;
      time: number;
    }
  | { kind: "NotHere"; primary: Address | null }
  | { kind: "Closed"; why: Closed }
  | { kind: "Sight"; index: number; objects: ShownObject[] }
  | { kind: "Told"; index: number; shown: ShownObject[]; gone: { object: ObjectId; version: number }[]; notices: Uint8Array[] }
  | { kind: "Result"; number: number; outcome: Outcome; index: number }
  | { kind: "Views"; shown: ShownObject[]; hidden: ObjectId[] }
  | { kind: "Moved"; generation: number; sequence: number; time: number }
  | { kind: "Corrected"; motion: Motion }
  /** The replicas that the player should be able to reach at once. */
  | { kind: "Contacts"; replicas: Address[] }
  /** The load level of the zone's primary. */
  | { kind: "Load"; load: LoadLevel }
  /** The sender has become the zone's primary. */
  | { kind: "Leads" };

/** How much the primary of a zone has to do: in a crowded zone everything is slower. */
export type LoadLevel = "Calm" | "Busy" | "Overloaded";
const LOAD_LEVELS: LoadLevel[] = ["Calm", "Busy", "Overloaded"];

/** Variant numbers of `zone::ZoneMsg`; the others are for replicas. */
const FROM_PLAYER = 1;
const TO_PLAYER = 2;

/** Encodes a whole `zone::ZoneMsg` of a player. */
export function encodeFromPlayer(message: FromPlayer): Uint8Array {
  const out = new Writer().u8(FROM_PLAYER);
  switch (message.kind) {
    case "Enter":
      out.u8(0).u64(message.player).u64(message.session).text(message.name).u8(message.seen === null ? 0 : 1);
      if (message.seen !== null) out.uint(message.seen.zone).uint(message.seen.epoch).uint(message.seen.index);
      return out.done();
    case "Act":
      writeMotion(out.u8(1).uint(message.number).uint(message.acked), message.motion);
      return out.bytes(message.action).done();
    case "Move":
      writeMotion(out.u8(2), message.motion);
      return out.done();
    case "Ack":
      return out.u8(3).uint(message.acked).done();
    case "Leave":
      return out.u8(4).done();
  }
}

/** Decodes a whole `zone::ZoneMsg` to a player: the sender's zone and epoch, and the message. */
export function decodeToPlayer(bytes: Uint8Array): { zone: number; epoch: number; message: ToPlayer } {
  const input = new Reader(bytes);
  if (input.u32() !== TO_PLAYER) throw new DecodeError("no message for a player");
  const zone = input.u32();
  const epoch = input.u32();
  const message = readToPlayer(input);
  input.end();
  return { zone, epoch, message };
}

function readToPlayer(input: Reader): ToPlayer {
  switch (input.u32()) {
    case 0:
      return {
        kind: "Entered",
        avatar: readObject(input),
        incarnation: input.u32(),
        lost: input.bool(),
        motion: readMotion(input),
        cursor: input.count(),
        time: readTime(input),
      };
    case 1:
      return { kind: "NotHere", primary: input.option(() => readAddress(input)) };
    case 2:
      return { kind: "Closed", why: readClosed(input) };
    case 3:
      return { kind: "Sight", index: input.count(), objects: readShown(input) };
    case 4:
      return {
        kind: "Told",
        index: input.count(),
        shown: readShown(input),
        gone: input.list(() => ({ object: readObject(input), version: input.u32() })),
        notices: input.list(() => input.bytes()),
      };
    case 5:
      return { kind: "Result", number: input.count(), outcome: readOutcome(input), index: input.count() };
    case 6:
      return { kind: "Views", shown: readShown(input), hidden: input.list(() => readObject(input)) };
    case 7:
      return { kind: "Moved", generation: input.u32(), sequence: input.u32(), time: readTime(input) };
    case 8:
      return { kind: "Corrected", motion: readMotion(input) };
    case 9:
      return { kind: "Contacts", replicas: input.list(() => readAddress(input)) };
    case 10:
      return { kind: "Load", load: readLoadLevel(input) };
    case 11:
      return { kind: "Leads" };
    default:
      throw new DecodeError("an unknown message");
  }
}

function readLoadLevel(input: Reader): LoadLevel {
  const level = LOAD_LEVELS[input.u32()];
  if (level === undefined) throw new DecodeError("an unknown load level");
  return level;
}

function readShown(input: Reader): ShownObject[] {
  return input.list(() => ({
    object: readObject(input),
    incarnation: input.u32(),
    version: input.u32(),
    motion: readMotion(input),
    shown: input.bytes(),
  }));
}

function readOutcome(input: Reader): Outcome {
  switch (input.u32()) {
    case 0:
      return { kind: "Done" };
    case 1:
      return { kind: "Refused", refusal: input.bytes() };
    case 2:
      return { kind: "Fault", why: input.text() };
    case 3:
      return { kind: "Busy" };
    default:
      throw new DecodeError("an unknown outcome");
  }
}

function readClosed(input: Reader): Closed {
  const reasons: Closed[] = ["Superseded", "Full", "Refused"];
  const why = reasons[input.u32()];
  if (why === undefined) throw new DecodeError("an unknown reason");
  return why;
}

/** Zones send microseconds; the client counts milliseconds. */
function readTime(input: Reader): number {
  return input.count() / 1000;
}

/** An address is the number host × 2^32 + zone. */
function readAddress(input: Reader): Address {
  const address = input.u64();
  return { host: Number(address >> 32n), zone: Number(address & 0xffff_ffffn) };
}
