// Parses the steps of a table.

import { type Motion, REST } from "../../src/motion.ts";
import type { ObjectId } from "../../src/object.ts";
import type { Peer } from "../../src/player/links.ts";
import type { Address, Closed, LoadLevel, Outcome, ShownObject, ToPlayer } from "../../src/protocol.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The text before and after the first `by`. */
function cut(text: string, by: string): [string, string | null] {
  const at = text.indexOf(by);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

function number(text: string): number {
  const value = text === "" ? NaN : Number(text);
  if (Number.isNaN(value)) throw new Error(`${text} is no number`);
  return value;
}

/** `a,b`, two numbers. */
export function pairOf(text: string, by: string): [number, number] {
  const [one, other] = cut(text, by);
  return [number(one), number(other ?? "")];
}

/** `2:1`, the replica of zone 1 on host 2, or `2:1#3`, its third link. */
export function linkOf(text: string): { peer: Peer; link: number | null } {
  const [peer, link] = cut(text, "#");
  pairOf(peer, ":");
  return { peer, link: link === null ? null : number(link) };
}

function addressOf(text: string): Address {
  const [host, zone] = pairOf(text, ":");
  return { host, zone };
}

export function objectOf(text: string): ObjectId {
  const [zone, epoch, counter] = text.split(".").map(number);
  if (zone === undefined || epoch === undefined || counter === undefined) throw new Error(`${text} is no object`);
  return { zone, epoch, counter };
}

/** `0.3`, generation and sequence, or `0.3@500,0`, and a position in millimetres; at rest, since 0. */
export function motionOf(text: string): Motion {
  const [order, place] = cut(text, "@");
  const [generation, sequence] = pairOf(order, ".");
  const [x, y] = pairOf(place ?? "0,0", ",");
  return { ...REST, generation, sequence, position: { x, y } };
}

/** `1.1.5@1.3`, incarnation and version; after `~` the motion, after `:` what the game shows. */
function shownOf(text: string): ShownObject {
  const [rest, shows] = cut(text, ":");
  const [versioned, moves] = cut(rest, "~");
  const [name, order] = cut(versioned, "@");
  const [incarnation, version] = pairOf(order ?? "", ".");
  return { object: objectOf(name), incarnation, version, motion: motionOf(moves ?? "0.0"), shown: bytes(shows ?? "") };
}

function goneOf(text: string): { object: ObjectId; version: number } {
  const [name, version] = cut(text, "@");
  return { object: objectOf(name), version: number(version ?? "") };
}

function outcomeOf(text: string): Outcome {
  const [kind, why] = cut(text, ":");
  switch (kind) {
    case "done":
      return { kind: "Done" };
    case "refused":
      return { kind: "Refused", refusal: bytes(why ?? "") };
    case "fault":
      return { kind: "Fault", why: why ?? "" };
    case "busy":
      return { kind: "Busy" };
    default:
      throw new Error(`${text} is no outcome`);
  }
}

function closedOf(text: string): Closed {
  const reasons: Record<string, Closed> = { superseded: "Superseded", full: "Full", refused: "Refused" };
  const why = reasons[text];
  if (why === undefined) throw new Error(`${text} is no reason`);
  return why;
}

function loadOf(text: string): LoadLevel {
  const levels: Record<string, LoadLevel> = { calm: "Calm", busy: "Busy", overloaded: "Overloaded" };
  const level = levels[text];
  if (level === undefined) throw new Error(`${text} is no load level`);
  return level;
}

/** The words of a message: a kind, its argument, and `key=value` pairs. */
export interface Fields {
  plain: string[];
  all(key: string): string[];
  count(key: string, otherwise: number): number;
}

export function fieldsOf(words: string[]): Fields {
  const plain = words.filter((word) => !word.includes("="));
  const all = (key: string) => words.filter((word) => word.startsWith(`${key}=`)).map((word) => word.slice(key.length + 1));
  const count = (key: string, otherwise: number) => number(all(key)[0] ?? String(otherwise));
  return { plain, all, count };
}

/** A message of a replica to the player. */
export function toPlayerOf(fields: Fields): ToPlayer {
  const { plain, all, count } = fields;
  const [kind = "", about = "", more = ""] = plain;
  const time = count("time", 50_000);
  switch (kind) {
    case "entered":
      return {
        kind: "Entered",
        avatar: objectOf(all("avatar")[0] ?? "1.1.5"),
        incarnation: count("incarnation", 1),
        lost: about === "lost",
        motion: motionOf(all("motion")[0] ?? "0.0"),
        cursor: count("cursor", 0),
        time,
      };
    case "not-here":
      return { kind: "NotHere", primary: null };
    case "closed":
      return { kind: "Closed", why: closedOf(about) };
    case "contacts":
      return { kind: "Contacts", replicas: all("replica").map(addressOf) };
    case "load":
      return { kind: "Load", load: loadOf(about) };
    case "leads":
      return { kind: "Leads" };
    case "corrected":
      return { kind: "Corrected", motion: motionOf(about) };
    case "moved": {
      const [generation, sequence] = pairOf(about, ".");
      return { kind: "Moved", generation, sequence, time };
    }
    case "result":
      return { kind: "Result", number: number(about), outcome: outcomeOf(more), index: 0 };
    default:
      return sceneOf(fields);
  }
}

/** The messages about objects in sight. */
function sceneOf({ plain, all, count }: Fields): ToPlayer {
  const [index, shown] = [count("index", 0), all("see").map(shownOf)];
  switch (plain[0]) {
    case "sight":
      return { kind: "Sight", index, objects: shown };
    case "told":
      return { kind: "Told", index, shown, gone: all("gone").map(goneOf), notices: all("notice").map(bytes) };
    case "views":
      return { kind: "Views", shown, hidden: all("hide").map(objectOf) };
    default:
      throw new Error(`no such step: ${plain.join(" ")}`);
  }
}
