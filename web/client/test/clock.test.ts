// The cases of crates/zone/src/clock.rs.

import { expect, test } from "vitest";
import { WorldClock } from "../src/clock.ts";

test("the estimate follows world time without stepping back", () => {
  const clock = new WorldClock();
  clock.learn(90, 100, 5_000);
  expect(clock.now(100), "behind by seconds: it jumps").toBe(5_005);
  expect(clock.now(1_100), "then runs free").toBe(6_005);
  // The client's clock ran fast: world time is 100 ms behind the estimate.
  clock.learn(2_095, 2_100, 6_900);
  let last = clock.now(2_100);
  for (let own = 2_110; own < 3_000; own += 10) {
    expect(clock.now(own)).toBeGreaterThanOrEqual(last);
    last = clock.now(own);
  }
  expect(Math.abs(last - (6_902.5 + 890))).toBeLessThan(10);
});

test("frequent questions do not stop the clock", () => {
  const clock = new WorldClock();
  clock.learn(100, 100, 5_000);
  clock.learn(200, 200, 4_900);
  expect(clock.now(200.998) - clock.now(200), "half speed").toBeCloseTo(0.499, 6);
});

test("an answer with a longer round trip is ignored", () => {
  const clock = new WorldClock();
  clock.learn(98, 100, 1_000);
  clock.learn(100, 300, 9_000);
  expect(clock.now(300)).toBeLessThan(1_300);
});

test("an own clock that started long before the world does not slow it down", () => {
  const clock = new WorldClock();
  clock.learn(9_000_000, 9_000_010, 500);
  expect(clock.now(9_000_010)).toBe(505);
  expect(clock.now(9_001_010)).toBe(1_505);
});
