// One player, whose links and time come from the lines of a table.

import { expect } from "vitest";
import type { Motion } from "../../src/motion.ts";
import { type Key, keyOf } from "../../src/object.ts";
import type { Peer } from "../../src/player/links.ts";
import { type PlayerEvent, type Lane, Player } from "../../src/player/player.ts";
import type { FromPlayer } from "../../src/protocol.ts";
import { type Fields, toPlayerOf, fieldsOf, linkOf, motionOf, objectOf, pairOf } from "./parse.ts";
import { beliefs, eventText, order, fromPlayerText } from "./print.ts";

/** The objects in sight, rebuilt only from the machine's events, as a page does it. */
type Mirror = Map<Key, MirroredObject>;
type MirroredObject = { motion: Motion; shown: Uint8Array };

export class Bench {
  private player!: Player;
  private now = 0;
  /** The newest link to each replica. */
  private links = new Map<Peer, number>();
  private mirror: Mirror = new Map();
  /** The player's messages and events since the block began. */
  private lines: string[] = [];
  /** The player's beliefs at the end of the last block. */
  private believed: string[] = [];
  /** Sends of one input: the same message to several replicas is one line. */
  private sends: { to: Peer[]; what: string }[] = [];

  constructor() {
    this.begin();
  }

  private begin(): void {
    // No random part in the pause between questions: a table shows the protocol, not the draw.
    const config = { player: 9n, session: 1n, name: "Ada", chance: () => 0 };
    this.player = new Player(config, {
      send: (peer, lane, message) => this.onSend(peer, lane, message),
      raise: (event) => this.onPlayerEvent(event),
    });
    this.now = 1_000;
    this.links = new Map();
    this.mirror = new Map();
    this.believed = beliefs(this.player);
  }

  /** Runs the steps of one block. Returns the player's messages and events, and its new beliefs. */
  block(steps: string[]): string {
    steps.forEach((step) => this.step(step));
    const now = beliefs(this.player);
    now.filter((it) => !this.believed.includes(it)).forEach((it) => this.lines.push(`= ${it}`));
    this.believed = now;
    const lines = this.lines.splice(0);
    return lines.length === 0 ? "nothing" : lines.join("\n");
  }

  private step(step: string): void {
    const [word = "", ...rest] = step.split(" ");
    switch (word) {
      case "again":
        return this.begin();
      case "at":
        return this.pass(Number(rest[0]));
      case "asleep-until":
        this.now = Number(rest[0]);
        return this.tell(() => this.player.wake(this.now));
      case "wake":
        return this.tell(() => this.player.wake(this.now));
      case "clock":
        return this.line(`clock ${Math.floor(this.player.clock.now(this.now))}`);
      case "up":
      case "down":
        return this.onLink(word, rest[0] ?? "");
      case "repeat":
        for (let times = Number(rest[0]); 0 < times; times--) this.step(rest.slice(1).join(" "));
        return;
      case "quietly": {
        const before = [...this.lines];
        this.step(rest.join(" "));
        this.lines = before;
        return;
      }
      case "act":
        return this.act(new TextEncoder().encode(rest[0]));
      case "act-bytes":
        return this.act(new Uint8Array(Number(rest[0])).fill("x".charCodeAt(0)));
      case "steer":
        return this.tell(() => this.player.steer(this.now, vector(rest[0]), Number(rest[1])));
      case "leave":
        return this.tell(() => this.player.leave(this.now));
      case "pose":
        return this.tell(() => this.player.hear(this.now, keyOf(objectOf(rest[0] ?? "")), motionOf(rest[1] ?? "")));
      default:
        return this.hear(word, fieldsOf(rest));
    }
  }

  private onLink(word: "up" | "down", text: string): void {
    const { peer, link } = linkOf(text);
    const newest = this.links.get(peer) ?? 0;
    if (word === "down") return this.tell(() => this.player.linkDown(this.now, peer, link ?? newest));
    this.links.set(peer, link ?? newest + 1);
    this.tell(() => this.player.linkUp(this.now, peer, link ?? newest + 1));
  }

  private hear(from: string, fields: Fields): void {
    const { peer, link } = linkOf(from);
    const [zone, epoch] = [Number(peer.split(":")[1]), fields.count("epoch", 1)];
    const newest = this.links.get(peer) ?? 0;
    this.tell(() => this.player.receive(this.now, peer, link ?? newest, zone, epoch, toPlayerOf(fields)));
  }

  /** `act` returns or throws what the Rust machine raises as events (`Busy`, `TooLong`). */
  private act(action: Uint8Array): void {
    this.tell(() => {
      try {
        const id = this.player.act(this.now, action);
        this.flush();
        this.line(id === null ? "! busy" : `action #${id}`);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        this.line(`! too long: ${action.length} bytes`);
      }
    });
  }

  /** Advances time, and wakes the player at each of its deadlines. */
  private pass(until: number): void {
    for (let at = this.player.deadline(); at !== null && at <= until; at = this.player.deadline()) {
      this.now = Math.max(at, this.now);
      this.tell(() => this.player.wake(this.now));
    }
    this.now = until;
  }

  private tell(input: () => void): void {
    input();
    this.flush();
    this.compareMirror();
  }

  /** Checks that the events add up to the machine's own objects, except for the avatar's motion, which raises no event. */
  private compareMirror(): void {
    const { me, motion, inSight } = this.player;
    const withOwn = (sight: ReadonlyMap<Key, MirroredObject>): Mirror => {
      const all = [...sight].map(([key, it]) => [key, { shown: it.shown, motion: key === me ? motion : it.motion }] as const);
      return new Map(all);
    };
    expect(withOwn(this.mirror)).toEqual(withOwn(inSight));
  }

  private onSend(peer: Peer, lane: Lane, message: FromPlayer): void {
    const what = `${lane}: ${fromPlayerText(message)}`;
    const last = this.sends.at(-1);
    if (last?.what === what && !last.to.includes(peer)) last.to.push(peer);
    else this.sends.push({ to: [peer], what });
  }

  private flush(): void {
    for (const { to, what } of this.sends.splice(0)) this.line(`> ${to.sort(order(":")).join(" ")} ${what}`);
  }

  private onPlayerEvent(event: PlayerEvent): void {
    this.flush();
    switch (event.kind) {
      case "Sight":
        return this.mirror.clear();
      case "Seen":
        return void this.mirror.set(event.key, { motion: event.seen.motion, shown: event.seen.shown });
      case "Heard": {
        const known = this.mirror.get(event.key);
        return void this.mirror.set(event.key, { shown: known?.shown ?? new Uint8Array(), motion: event.motion });
      }
      case "Lost":
        return void this.mirror.delete(event.key);
      default:
        this.line(`! ${eventText(event)}`);
    }
  }

  private line(text: string): void {
    this.lines.push(`${this.now} ${text}`);
  }
}

function vector(text = ""): { x: number; y: number } {
  const [x, y] = pairOf(text, ",");
  return { x, y };
}
