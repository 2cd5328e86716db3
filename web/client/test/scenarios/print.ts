// Prints the player's messages, events and beliefs as lines of a table.

import type { Motion } from "../../src/motion.ts";
import { keyOf } from "../../src/object.ts";
import type { PlayerEvent, Player } from "../../src/player/player.ts";
import type { Outcome, FromPlayer } from "../../src/protocol.ts";

const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const quoted = (bytes: Uint8Array): string => `"${decoded(bytes)}"`;

/** Compares names made of numbers, number by number. */
export function order(by: string): (one: string, other: string) => number {
  return (one, other) => {
    const [left, right] = [one.split(by).map(Number), other.split(by).map(Number)];
    const differs = left.findIndex((number, index) => number !== right[index]);
    return differs < 0 ? 0 : (left[differs] ?? 0) - (right[differs] ?? 0);
  };
}

/** Generation and sequence, then all other fields that are not zero. */
function motionText({ position, velocity, heading, start, generation, sequence }: Motion): string {
  const words = [`${generation}.${sequence}`];
  if (position.x !== 0 || position.y !== 0) words.push(`at ${position.x},${position.y}`);
  if (velocity.x !== 0 || velocity.y !== 0) words.push(`going ${velocity.x},${velocity.y}`);
  if (heading !== 0) words.push(`facing ${heading}`);
  if (start !== 0) words.push(`since ${start}`);
  return words.join(" ");
}

function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case "Refused":
      return `refused ${quoted(outcome.refusal)}`;
    case "Fault":
      return `fault "${outcome.why}"`;
    default:
      return outcome.kind.toLowerCase();
  }
}

export function fromPlayerText(message: FromPlayer): string {
  switch (message.kind) {
    case "Enter": {
      const seen = message.seen === null ? "nothing" : `zone ${message.seen.zone} epoch ${message.seen.epoch} index ${message.seen.index}`;
      return `enter player ${message.player} session ${message.session} name ${message.name} seen ${seen}`;
    }
    case "Act":
      return `act ${message.number} acked ${message.acked} motion ${motionText(message.motion)} ${quoted(message.action)}`;
    case "Move":
      return `move ${motionText(message.motion)}`;
    case "Ack":
      return `ack ${message.acked}`;
    case "Leave":
      return "leave";
  }
}

/** Text of the events that the Rust machine has, too. */
export function eventText(it: Exclude<PlayerEvent, { kind: "Sight" | "Seen" | "Heard" | "Lost" }>): string {
  switch (it.kind) {
    case "Entered":
      return `entered ${keyOf(it.avatar)}`;
    case "Searching":
      return "searching";
    case "Answered":
      return `answered #${it.id} ${outcomeText(it.outcome)} after ${spanText(it.took)}`;
    case "Notice":
      return `notice ${quoted(it.notice)}`;
    case "Corrected":
      return `corrected ${motionText(it.motion)}`;
    case "Closed":
      return `closed ${it.why.toLowerCase()}`;
    case "Load":
      return `load ${it.load.toLowerCase()}`;
    case "Contacts":
      return `contacts ${it.replicas === null ? "all" : [...it.replicas].sort(order(":")).join(" ")}`;
  }
}

/** Milliseconds, or seconds if they are whole. */
function spanText(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

/** The player's beliefs: its home, its actions, its avatar, the objects in sight. */
export function beliefs(player: Player): string[] {
  const searching = player.isSearching ? " searching" : "";
  const avatar = player.me === null ? "none" : `${player.me} ${motionText(player.motion)}`;
  return [
    `home ${player.homePeer ?? "none"} zone ${player.zone} epoch ${player.epoch}${searching}`,
    `next ${player.lastAction + 1} unanswered ${listed(runs(player.unansweredNumbers), ",")}`,
    `avatar ${avatar}`,
    `sight ${listed(sight(player), " ")}`,
  ];
}

/** `1-6`, `8`: consecutive numbers become one word. */
function runs(numbers: number[]): string[] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
}

function listed(words: string[], by: string): string {
  return words.length === 0 ? "none" : words.join(by);
}

/** The objects in sight, in the notation of the steps. */
function sight(player: Player): string[] {
  const versions = new Map(player.versions().map((it) => [keyOf(it.object), it]));
  return [...player.inSight.keys()].sort(order(".")).map((key) => {
    const [seen, known] = [player.inSight.get(key), versions.get(key)];
    if (seen === undefined || known === undefined) throw new Error(`${key} has no version`);
    const [{ generation, sequence }, shown] = [seen.motion, decoded(seen.shown)];
    const text = shown === "" ? "" : `:${shown}`;
    return `${key}@${known.incarnation}.${known.version}~${generation}.${sequence}${text}`;
  });
}
