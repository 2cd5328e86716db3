// The player's machine on a bench: everything it says and tells is a line of text.

import { expect, test } from "vitest";
import { type Motion, REST } from "../src/motion.ts";
import { type Happening, Player, UNANSWERED_MAX } from "../src/player.ts";
import type { Down, Shown, Up } from "../src/protocol.ts";

const AVATAR = { zone: 1, epoch: 1, counter: 5 };
const motion = (sequence: number, generation = 0): Motion => ({ ...REST, sequence, generation });

function shown(counter: number, version: number, more: Partial<Shown> = {}): Shown {
  const object = { zone: 1, epoch: 1, counter };
  return { object, incarnation: 1, version, motion: REST, shown: Uint8Array.of(version), ...more };
}

function entered(cursor = 0, more: Partial<Extract<Down, { kind: "Entered" }>> = {}): Down {
  return { kind: "Entered", avatar: AVATAR, incarnation: 1, lost: false, motion: REST, cursor, time: 50_000, backup: null, ...more };
}

function told(index: number, more: Partial<Extract<Down, { kind: "Told" }>> = {}): Down {
  return { kind: "Told", index, shown: [], gone: [], notices: [], ...more };
}

class Bench {
  now = 1_000;
  lines: string[] = [];
  readonly player: Player;

  constructor(...peers: string[]) {
    const config = { player: 9n, session: 1n, name: "Ada", chance: () => 0 };
    this.player = new Player(config, {
      send: (peer, lane, up) => this.lines.push(`${peer} ${lane} ${words(up)}`),
      raise: (happening) => this.lines.push(event(happening)),
    });
    peers.forEach((peer) => this.player.linkUp(this.now, peer, 1));
  }

  hear(from: string, epoch: number, down: Down): void {
    const zone = Number(from.split(":")[1]);
    this.player.receive(this.now, from, 1, zone, epoch, down);
  }

  /** Lets time pass, waking the machine when it wants. */
  pass(span: number): void {
    const end = this.now + span;
    for (let at = this.player.deadline(); at !== null && at <= end; at = this.player.deadline()) {
      this.now = Math.max(at, this.now);
      this.player.wake(this.now);
    }
    this.now = end;
  }

  /** What was said since the last time. */
  take(): string[] {
    return this.lines.splice(0);
  }
}

function words(up: Up): string {
  switch (up.kind) {
    case "Enter":
      return up.seen === null ? "Enter" : `Enter seen=${up.seen.zone}.${up.seen.index}`;
    case "Act":
      return `Act ${up.number} acked=${up.acked} [${up.action.join()}]`;
    case "Move":
      return `Move ${up.motion.generation}.${up.motion.sequence}`;
    case "Ack":
      return `Ack ${up.acked}`;
    case "Leave":
      return "Leave";
  }
}

function event(it: Happening): string {
  switch (it.kind) {
    case "Entered":
      return `! Entered ${it.home}`;
    case "Answered":
      return `! Answered id=${it.id} number=${it.number} ${it.outcome.kind}`;
    case "Notice":
      return `! Notice ${it.notice.join()}`;
    case "Seen":
      return `! Seen ${it.key} v${it.seen.version}`;
    case "Heard":
    case "Lost":
      return `! ${it.kind} ${it.key}`;
    case "Corrected":
      return `! Corrected ${it.motion.generation}.${it.motion.sequence}`;
    case "Closed":
      return `! Closed ${it.why}`;
    default:
      return `! ${it.kind}`;
  }
}

test("it asks everybody until one lets it in", () => {
  const bench = new Bench("1:1", "2:1");
  expect(bench.take()).toEqual(["1:1 sure Enter", "1:1 sure Enter", "2:1 sure Enter"]);
  bench.hear("2:1", 1, { kind: "NotHere", primary: null });
  bench.pass(100);
  expect(bench.take()).toEqual(["1:1 sure Enter", "2:1 sure Enter"]);
  bench.hear("1:1", 1, entered());
  expect(bench.take()).toEqual(["! Entered 1:1", "1:1 latest Move 0.0"]);
  bench.pass(200);
  expect(bench.take(), "moves are repeated").toEqual(["1:1 latest Move 0.0"]);
});

test("a silent zone is searched for, and found elsewhere; what was not answered is sent again", () => {
  const bench = new Bench("1:1", "2:1");
  bench.hear("1:1", 1, entered());
  bench.player.act(bench.now, Uint8Array.of(7));
  bench.player.act(bench.now, Uint8Array.of(8));
  bench.hear("1:1", 1, { kind: "Result", number: 1, outcome: { kind: "Done" }, index: 3 });
  bench.hear("1:1", 1, told(12));
  bench.take();
  bench.pass(399);
  expect(bench.take()).toEqual(["1:1 latest Move 0.0"]);
  bench.pass(1);
  expect(bench.take()).toEqual(
    expect.arrayContaining(["! Searching", "1:1 sure Enter seen=1.12", "2:1 sure Enter seen=1.12"]),
  );
  bench.hear("2:1", 2, entered(1));
  expect(bench.take()).toEqual(["! Entered 2:1", "2:1 sure Act 2 acked=1 [8]", "2:1 latest Move 0.0"]);
});

test("a broken link to the home is a reason to search at once", () => {
  const bench = new Bench("1:1", "2:1");
  bench.hear("1:1", 1, entered());
  bench.take();
  bench.player.linkDown(bench.now, "1:1", 1);
  expect(bench.take()).toEqual(["! Searching", "2:1 sure Enter"]);
  bench.player.linkUp(bench.now, "1:1", 2);
  bench.hear("1:1", 5, entered());
  expect(bench.player.home, "an old link speaks of the past").toBe(null);
});

test("only the home is believed, and nobody from an epoch that is over", () => {
  const bench = new Bench("1:1", "2:1");
  bench.hear("1:1", 3, entered());
  bench.take();
  bench.hear("2:1", 3, told(1, { shown: [shown(1, 1)] }));
  bench.hear("1:1", 2, told(2, { shown: [shown(2, 1)] }));
  bench.hear("2:1", 2, entered());
  bench.hear("2:1", 2, { kind: "Closed", why: "Superseded" });
  expect(bench.take()).toEqual([]);
  bench.hear("1:1", 4, told(3, { shown: [shown(3, 1)] }));
  expect(bench.take()).toEqual(["! Seen 1.1.3 v1"]);
  expect(bench.player.epoch).toBe(4);
  // Datagrams overtake: the home's own older epoch, in which it let us in, is still believed.
  bench.hear("1:1", 3, told(4, { shown: [shown(4, 1)] }));
  expect(bench.take()).toEqual(["! Seen 1.1.4 v1"]);
});

test("a silent home costs the rest of the world nothing at first", () => {
  const bench = new Bench("1:1", "2:1", "3:7");
  bench.hear("1:1", 1, entered());
  bench.take();
  const rounds: string[] = [];
  while (rounds.length < 5) {
    bench.pass(10);
    const asked = bench.take().filter((it) => it.endsWith("Enter"));
    if (0 < asked.length) rounds.push(asked.map((it) => it.split(" ")[0]).join(" "));
  }
  expect(rounds.slice(0, 4)).toEqual(Array(4).fill("1:1 2:1"));
  expect(rounds[4]).toContain("3:7");
});

test("whoever owns the avatar later is the new home, and an earlier owner is not believed", () => {
  const bench = new Bench("1:1", "2:7");
  bench.hear("1:1", 5, entered());
  bench.hear("1:1", 5, told(12));
  bench.player.act(bench.now, Uint8Array.of(7));
  bench.take();
  // Another zone's epochs are its own affair; what was not answered is sent to it.
  bench.hear("2:7", 2, entered(0, { incarnation: 2 }));
  expect(bench.take()).toEqual(["! Entered 2:7", "2:7 sure Act 1 acked=0 [7]", "2:7 latest Move 0.0"]);
  expect([bench.player.zone, bench.player.epoch]).toEqual([7, 2]);
  bench.hear("1:1", 6, entered(0, { incarnation: 1 }));
  bench.hear("1:1", 5, told(13, { shown: [shown(1, 1)] }));
  expect(bench.take(), "it was the home").toEqual([]);
  bench.player.linkDown(bench.now, "2:7", 1);
  expect(bench.take(), "records of another zone are counted anew").toEqual(["! Searching", "1:1 sure Enter"]);
});

test("whoever takes over may not know the last steps; an event that moved the avatar they do", () => {
  const bench = new Bench("1:1", "2:1");
  bench.hear("1:1", 1, entered());
  for (let count = 0; count < 3; count++) bench.player.steer(bench.now, { x: count, y: 0 }, 0);
  bench.player.linkDown(bench.now, "1:1", 1);
  bench.hear("2:1", 2, entered(0, { motion: motion(2) }));
  expect(bench.player.motion.sequence).toBe(3);
  bench.player.linkDown(bench.now, "2:1", 1);
  bench.player.linkUp(bench.now, "2:1", 1);
  bench.hear("2:1", 2, entered(0, { motion: motion(1, 1) }));
  expect(bench.player.motion).toEqual(motion(1, 1));
});

test("per object the highest incarnation and version count", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  bench.take();
  bench.hear("1:1", 1, told(5, { shown: [shown(1, 7)] }));
  bench.hear("1:1", 1, told(6, { shown: [shown(1, 6)] }));
  bench.hear("1:1", 1, told(7, { shown: [shown(1, 2, { incarnation: 2 })] }));
  bench.hear("1:1", 1, told(8, { shown: [shown(1, 9)] }));
  bench.hear("1:1", 1, told(9, { gone: [{ object: shown(1, 0).object, version: 1 }] }));
  expect(bench.take()).toEqual(["! Seen 1.1.1 v7", "! Seen 1.1.1 v2"]);
  bench.hear("1:1", 1, told(10, { gone: [{ object: shown(1, 0).object, version: 3 }] }));
  expect(bench.take()).toEqual(["! Lost 1.1.1"]);
});

test("a sight forgets the rest", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  bench.hear("1:1", 1, { kind: "Sight", index: 4, objects: [shown(1, 1), shown(2, 1)] });
  bench.hear("1:1", 1, { kind: "Sight", index: 5, objects: [shown(2, 1)] });
  expect([...bench.player.objects.keys()]).toEqual(["1.1.2"]);
  bench.hear("1:1", 1, { kind: "Views", shown: [shown(3, 1)], hidden: [shown(2, 0).object] });
  expect([...bench.player.objects.keys()]).toEqual(["1.1.3"]);
});

test("notices are told once, by their record", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  bench.take();
  const notices = [Uint8Array.of(1), Uint8Array.of(2)];
  bench.hear("1:1", 1, told(5, { notices }));
  bench.hear("1:1", 1, told(5, { notices }));
  bench.hear("1:1", 1, told(4, { notices: [Uint8Array.of(3)] }));
  expect(bench.take()).toEqual(["! Notice 1", "! Notice 2"]);
});

test("results are told once and acknowledged", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered(40));
  bench.take();
  bench.player.act(bench.now, Uint8Array.of(1));
  bench.player.act(bench.now, Uint8Array.of(2));
  expect(bench.take()).toEqual(["1:1 sure Act 41 acked=40 [1]", "1:1 sure Act 42 acked=40 [2]"]);
  const result = (number: number): Down => ({ kind: "Result", number, outcome: { kind: "Done" }, index: 1 });
  bench.hear("1:1", 1, result(42));
  bench.hear("1:1", 1, result(42));
  expect(bench.take(), "41 is missing: nothing is acknowledged").toEqual(["! Answered id=2 number=42 Done"]);
  bench.hear("1:1", 1, result(41));
  expect(bench.take()).toEqual(["! Answered id=1 number=41 Done", "1:1 sure Ack 42"]);
});

test("a world that lost its last moments is given the actions under new numbers", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered(10));
  bench.player.act(bench.now, Uint8Array.of(1));
  bench.hear("1:1", 1, { kind: "Result", number: 11, outcome: { kind: "Done" }, index: 1 });
  bench.player.act(bench.now, Uint8Array.of(2));
  bench.player.linkUp(bench.now, "1:1", 1);
  bench.take();
  bench.hear("1:1", 2, entered(3));
  expect(bench.take()).toContain("1:1 sure Act 4 acked=3 [2]");
  bench.hear("1:1", 2, { kind: "Result", number: 4, outcome: { kind: "Done" }, index: 1 });
  expect(bench.take(), "the name it was given here stays").toContain("! Answered id=2 number=4 Done");
});

test("only so many actions are out at once", () => {
  const bench = new Bench("1:1");
  expect(bench.player.act(bench.now, Uint8Array.of(1)), "not in yet").toBe(null);
  bench.hear("1:1", 1, entered());
  for (let count = 0; count < UNANSWERED_MAX; count++) bench.player.act(bench.now, Uint8Array.of(1));
  expect(bench.player.act(bench.now, Uint8Array.of(1))).toBe(null);
});

test("steering numbers moves, from where the avatar is by now", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  bench.take();
  bench.player.steer(bench.now, { x: 6_000, y: 0 }, 0);
  expect(bench.player.motion).toEqual({ ...REST, velocity: { x: 6_000, y: 0 }, start: 50_000, sequence: 1 });
  bench.now += 500;
  bench.player.steer(bench.now, { x: 0, y: 0 }, 16384);
  expect(bench.player.motion).toMatchObject({ position: { x: 3_000, y: 0 }, start: 50_500, sequence: 2 });
  expect(bench.take()).toEqual(["1:1 latest Move 0.1", "1:1 latest Move 0.2"]);
});

test("an event that moves the avatar voids what was sent before", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  bench.player.steer(bench.now, { x: 6_000, y: 0 }, 0);
  bench.hear("1:1", 1, told(1, { shown: [shown(AVATAR.counter, 2, { motion: motion(0, 1) })] }));
  expect(bench.player.motion.generation).toBe(1);
  bench.hear("1:1", 1, told(2, { shown: [shown(AVATAR.counter, 3, { motion: motion(0, 0) })] }));
  expect(bench.player.objects.get("1.1.5")?.motion.generation, "our own motion counts").toBe(1);
});

test("a correction keeps the numbers going", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  for (let count = 0; count < 5; count++) bench.player.steer(bench.now, { x: count, y: 0 }, 0);
  bench.hear("1:1", 1, { kind: "Corrected", motion: motion(2) });
  bench.player.steer(bench.now, { x: 9, y: 0 }, 0);
  expect(bench.player.motion.sequence).toBe(6);
});

test("poses are heard of others, and only newer ones", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  bench.hear("1:1", 1, { kind: "Sight", index: 1, objects: [shown(1, 1), shown(AVATAR.counter, 1)] });
  bench.take();
  bench.player.hear(bench.now, "1.1.1", motion(2));
  bench.player.hear(bench.now, "1.1.1", motion(1));
  bench.player.hear(bench.now, "1.1.5", motion(9));
  bench.player.hear(bench.now, "1.1.77", motion(9));
  expect(bench.take()).toEqual(["! Heard 1.1.1"]);
});

test("an echoed move sets the clock; a repeated one is measured from its first sending", () => {
  const bench = new Bench("1:1");
  bench.pass(20);
  bench.hear("1:1", 1, entered(0, { time: 50_000 }));
  bench.pass(230); // The move of 0 ms is said again at 200 ms, before its echo comes.
  bench.hear("1:1", 1, { kind: "Moved", generation: 0, sequence: 0, time: 50_115 });
  expect(bench.player.clock.now(bench.now)).toBeCloseTo(50_240, 0);
});

test("who is superseded stops", () => {
  const bench = new Bench("1:1");
  bench.hear("1:1", 1, entered());
  bench.take();
  bench.hear("1:1", 1, { kind: "Closed", why: "Superseded" });
  bench.pass(5_000);
  expect(bench.take()).toEqual(["! Closed Superseded"]);
  expect(bench.player.deadline()).toBe(null);
});

test("who was asleep itself does not take the zone for silent at once", () => {
  const bench = new Bench("1:1", "2:1");
  bench.hear("1:1", 1, entered());
  bench.take();
  bench.now += 3_000;
  bench.player.wake(bench.now);
  expect(bench.take()).toEqual(["1:1 latest Move 0.0"]);
  bench.pass(100);
  expect(bench.take()).toContain("! Searching");
});
