// What a player and a zone say to each other (crates/zone/src/msg.rs).

import { DecodeError, Reader, Writer } from "./bytes.ts";
import { type Motion, readMotion, writeMotion } from "./motion.ts";
import { type ObjectId, readObject } from "./object.ts";

/** Where a replica can be reached: its host, and the zone it is of. */
export interface Address {
  host: number;
  zone: number;
}

/** The last record of a zone that was heard of. */
export interface Seen {
  zone: number;
  epoch: number;
  index: number;
}

/** From a player to a zone. */
export type Up =
  | { kind: "Enter"; player: bigint; session: bigint; name: string; seen: Seen | null }
  | { kind: "Act"; number: number; acked: number; motion: Motion; action: Uint8Array }
  | { kind: "Move"; motion: Motion }
  | { kind: "Ack"; acked: number }
  | { kind: "Leave" };

/** An object as a player may see it. */
export interface Shown {
  object: ObjectId;
  incarnation: number;
  version: number;
  motion: Motion;
  /** The game's `Shown`. */
  shown: Uint8Array;
}

/** What became of an action. */
export type Outcome =
  | { kind: "Done" }
  | { kind: "Refused"; refusal: Uint8Array }
  | { kind: "Fault"; why: string }
  /** Too many want the same; nothing happened. */
  | { kind: "Busy" };

/** Why a player cannot enter. */
export type Closed = "Superseded" | "Full" | "Refused";

/** From a zone to a player. Times are milliseconds of world time. */
export type Down =
  | {
      kind: "Entered";
      avatar: ObjectId;
      /** Counts its owners: a later owner is believed. */
      incarnation: number;
      /** Whether the world has lost its last moments, and with them some of what we have seen. */
      lost: boolean;
      motion: Motion;
      cursor: number;
      time: number;
      backup: Address | null;
    }
  | { kind: "NotHere"; primary: Address | null }
  | { kind: "Closed"; why: Closed }
  | { kind: "Sight"; index: number; objects: Shown[] }
  | { kind: "Told"; index: number; shown: Shown[]; gone: { object: ObjectId; version: number }[]; notices: Uint8Array[] }
  | { kind: "Result"; number: number; outcome: Outcome; index: number }
  | { kind: "Views"; shown: Shown[]; hidden: ObjectId[] }
  | { kind: "Moved"; generation: number; sequence: number; time: number }
  | { kind: "Corrected"; motion: Motion };

/** The variants of `zone::Msg`. A player sends `Up` and hears `Down`; `Peer` and `Mesh` are for replicas. */
const UP = 1;
const DOWN = 2;

/** A whole `zone::Msg::Up`. */
export function encodeUp(up: Up): Uint8Array {
  const out = new Writer().u8(UP);
  switch (up.kind) {
    case "Enter":
      out.u8(0).u64(up.player).u64(up.session).text(up.name).u8(up.seen === null ? 0 : 1);
      if (up.seen !== null) out.uint(up.seen.zone).uint(up.seen.epoch).uint(up.seen.index);
      return out.done();
    case "Act":
      writeMotion(out.u8(1).uint(up.number).uint(up.acked), up.motion);
      return out.bytes(up.action).done();
    case "Move":
      writeMotion(out.u8(2), up.motion);
      return out.done();
    case "Ack":
      return out.u8(3).uint(up.acked).done();
    case "Leave":
      return out.u8(4).done();
  }
}

/** A whole `zone::Msg::Down`: the zone and epoch of who says it, and what. */
export function decodeDown(bytes: Uint8Array): { zone: number; epoch: number; down: Down } {
  const input = new Reader(bytes);
  if (input.u32() !== DOWN) throw new DecodeError("no message for a player");
  const zone = input.u32();
  const epoch = input.u32();
  const down = readDown(input);
  input.end();
  return { zone, epoch, down };
}

function readDown(input: Reader): Down {
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
        backup: input.option(() => readAddress(input)),
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
    default:
      throw new DecodeError("an unknown message");
  }
}

function readShown(input: Reader): Shown[] {
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

/** Zones count microseconds. */
function readTime(input: Reader): number {
  return input.count() / 1000;
}

/** host × 2^32 + zone. */
function readAddress(input: Reader): Address {
  const address = input.u64();
  return { host: Number(address >> 32n), zone: Number(address & 0xffff_ffffn) };
}
