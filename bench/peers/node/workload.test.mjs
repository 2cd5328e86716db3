// Run by `node --test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Measurements } from "./measurements.mjs";
import { half, since, VIEW, VISIBLE, Walker, World } from "./workload.mjs";

test("the world is as large as that of `ecumene bench server`", () => {
  assert.deepEqual([100, 400, 1_000].map(half), [99, 213, 346]);
});

test("a walker takes the same steps as the walker in Rust", () => {
  const walker = new Walker(7, 99);
  for (let i = 0; i < 100; i++) walker.step();
  // The numbers of the test of `../workload/src/walker.rs`. Only rounding may differ.
  assert.ok(Math.hypot(walker.x - 80.274, walker.y + 80.043) < 0.01, `${walker.x} ${walker.y}`);
});

test("the grid finds what comparing all pairs finds, and each change is told once", () => {
  const clients = 400;
  const world = new World(clients, 4);
  const walkers = Array.from({ length: clients }, (_, number) => new Walker(number, world.half));
  const told = new Set();
  for (let tick = 0; tick < 50; tick++) {
    walkers.forEach((it, number) => {
      it.step();
      world.accept(number, it.x, it.y, tick + 1);
    });
    world.look((client, avatar, sees) => {
      const pair = `${client} ${avatar}`;
      assert.notEqual(told.has(pair), sees);
      if (sees) told.add(pair);
      else told.delete(pair);
    });
    world.endTick();
  }
  let pairs = 0;
  for (let a = 0; a < clients; a++) {
    for (let b = 0; b < clients; b++) {
      const near = a !== b && (world.x[a] - world.x[b]) ** 2 + (world.y[a] - world.y[b]) ** 2 <= VIEW ** 2;
      assert.equal(told.has(`${a} ${b}`), near);
      if (near) pairs++;
    }
  }
  assert.ok(Math.abs(pairs / clients / VISIBLE - 1) < 0.15, `${pairs / clients}`);
});

test("a move that arrives twice or too late counts once", () => {
  const measurements = new Measurements(2);
  for (const at of [10, 10, 30, 20, 30]) measurements.onUpdate(0, 1, at, 50);
  const report = measurements.report(1, measurements.visible(2_530));
  assert.deepEqual([report.updates, report.age_p50_ms, report.visible], [2, 4, 0.5]);
  assert.equal(measurements.visible(2_531), 0);
  assert.equal(since(5, 2 ** 32 - 5), 10);
});
