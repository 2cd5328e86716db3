// One player, whose links and time are lines of a table.

import { expect } from "vitest";
import type { Motion } from "../../src/motion.ts";
import { type Key, keyOf } from "../../src/object.ts";
import type { Peer } from "../../src/player/links.ts";
import { type Happening, type Lane, Player } from "../../src/player/player.ts";
import type { Up } from "../../src/protocol.ts";
import { type Fields, downOf, fieldsOf, linkOf, motionOf, objectOf, pairOf } from "./parse.ts";
import { beliefs, happeningText, order, upText } from "./print.ts";

/** Everything in sight, made only of what the machine told: what a page that draws it knows. */
type Mirror = Map<Key, Looks>;
type Looks = { motion: Motion; shown: Uint8Array };

export class Bench {
  private player!: Player;
  private now = 0;
  /** The newest link to each replica. */
  private links = new Map<Peer, number>();
  private mirror: Mirror = new Map();
  /** What the player did since the block began. */
  private lines: string[] = [];
  /** What it believed at the end of the last block. */
  private believed: string[] = [];
  /** Sends of one input: the same message to several replicas is one line. */
  private sends: { to: Peer[]; what: string }[] = [];

  constructor() {
    this.begin();
  }

  private begin(): void {
    // The pause before the next question is the shortest that can be drawn: a table is about the protocol.
    const config = { player: 9n, session: 1n, name: "Ada", chance: () => 0 };
    this.player = new Player(config, {
      send: (peer, lane, up) => this.onSend(peer, lane, up),
      raise: (happening) => this.onHappening(happening),
    });
    this.now = 1_000;
    this.links = new Map();
    this.mirror = new Map();
    this.believed = beliefs(this.player);
  }

  /** Takes the steps of one block. Gives what the player did, and what it believes now and did not before. */
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
    this.tell(() => this.player.receive(this.now, peer, link ?? newest, zone, epoch, downOf(fields)));
  }

  /** What the Rust machine raises as an event, `act` gives back, or throws. */
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

  /** Lets time pass, and wakes the player whenever it wants. */
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

  /** What the machine told adds up to what it knows; but for the own motion, which no event tells. */
  private compareMirror(): void {
    const { me, motion, inSight } = this.player;
    const withOwn = (sight: ReadonlyMap<Key, Looks>): Mirror => {
      const all = [...sight].map(([key, it]) => [key, { shown: it.shown, motion: key === me ? motion : it.motion }] as const);
      return new Map(all);
    };
    expect(withOwn(this.mirror)).toEqual(withOwn(inSight));
  }

  private onSend(peer: Peer, lane: Lane, up: Up): void {
    const what = `${lane}: ${upText(up)}`;
    const last = this.sends.at(-1);
    if (last?.what === what && !last.to.includes(peer)) last.to.push(peer);
    else this.sends.push({ to: [peer], what });
  }

  private flush(): void {
    for (const { to, what } of this.sends.splice(0)) this.line(`> ${to.sort(order(":")).join(" ")} ${what}`);
  }

  private onHappening(happening: Happening): void {
    this.flush();
    switch (happening.kind) {
      case "Sight":
        return this.mirror.clear();
      case "Seen":
        return void this.mirror.set(happening.key, { motion: happening.seen.motion, shown: happening.seen.shown });
      case "Heard": {
        const known = this.mirror.get(happening.key);
        return void this.mirror.set(happening.key, { shown: known?.shown ?? new Uint8Array(), motion: happening.motion });
      }
      case "Lost":
        return void this.mirror.delete(happening.key);
      default:
        this.line(`! ${happeningText(happening)}`);
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
