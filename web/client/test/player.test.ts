// Events of the player's machine that the tables (scenarios.test.ts) do not show: changes of the objects in sight, for a page.

import { expect, test } from "vitest";
import { type Motion, REST } from "../src/motion.ts";
import { Player } from "../src/player/player.ts";
import type { ToPlayer, ShownObject } from "../src/protocol.ts";

const AVATAR = { zone: 1, epoch: 1, counter: 5 };
const motion = (sequence: number): Motion => ({ ...REST, sequence });

function shown(counter: number, version: number): ShownObject {
  const object = { zone: 1, epoch: 1, counter };
  return { object, incarnation: 1, version, motion: REST, shown: Uint8Array.of(version) };
}

/** A player that a zone has let in. Each message and event is a line. */
class Bench {
  now = 1_000;
  readonly lines: string[] = [];
  readonly player: Player;

  constructor() {
    const config = { player: 9n, session: 1n, name: "Ada", chance: () => 0 };
    this.player = new Player(config, {
      send: (peer, lane, message) => this.lines.push(`${peer} ${lane} ${message.kind}`),
      raise: (it) => this.lines.push("key" in it ? `! ${it.kind} ${it.key}` : `! ${it.kind}`),
    });
    this.player.linkUp(this.now, "1:1", 1);
    const entered = { avatar: AVATAR, incarnation: 1, lost: false, motion: REST, cursor: 0, time: 50_000 };
    this.hear({ kind: "Entered", ...entered });
    this.take();
  }

  hear(message: ToPlayer): void {
    this.player.receive(this.now, "1:1", 1, 1, 1, message);
  }

  /** Removes and returns the lines since the last call. */
  take(): string[] {
    return this.lines.splice(0);
  }
}

test("a sight raises all objects anew, in their newest known version", () => {
  const bench = new Bench();
  bench.hear({ kind: "Sight", index: 1, objects: [shown(1, 3), shown(2, 1)] });
  expect(bench.take()).toEqual(["! Sight", "! Seen 1.1.1", "! Seen 1.1.2"]);
  bench.hear({ kind: "Sight", index: 2, objects: [shown(1, 2), shown(3, 1)] });
  expect(bench.take()).toEqual(["! Sight", "! Seen 1.1.1", "! Seen 1.1.3"]);
  expect(bench.player.inSight.get("1.1.1")?.shown).toEqual(Uint8Array.of(3));
});

test("each change, motion and loss raises an event; old ones raise none", () => {
  const bench = new Bench();
  bench.hear({ kind: "Sight", index: 1, objects: [shown(1, 3), shown(2, 1), shown(5, 1)] });
  bench.take();
  const { object } = shown(1, 0);
  bench.hear({ kind: "Told", index: 2, shown: [shown(1, 2)], gone: [{ object, version: 2 }], notices: [] });
  bench.player.hear(bench.now, "1.1.1", motion(0));
  bench.player.hear(bench.now, "1.1.5", motion(9));
  bench.player.hear(bench.now, "1.1.77", motion(9));
  expect(bench.take()).toEqual([]);
  bench.player.hear(bench.now, "1.1.1", motion(1));
  bench.hear({ kind: "Told", index: 3, shown: [shown(2, 2)], gone: [{ object, version: 3 }], notices: [] });
  bench.hear({ kind: "Views", shown: [], hidden: [shown(2, 0).object, object] });
  expect(bench.take()).toEqual(["! Heard 1.1.1", "! Seen 1.1.2", "! Lost 1.1.1", "! Lost 1.1.2"]);
});

test("a player that was asleep itself does not take the zone for silent at once", () => {
  const bench = new Bench();
  bench.now += 3_000;
  bench.player.wake(bench.now);
  expect(bench.take()).toEqual(["1:1 latest Move"]);
  bench.now += 100;
  bench.player.wake(bench.now);
  expect(bench.take()).toContain("! Searching");
});
