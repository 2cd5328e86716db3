import { expect, test } from "vitest";
import { type Motion, REST } from "../src/motion.ts";
import { Track } from "../src/track.ts";
import { View } from "../src/view.ts";

const going = (start: number, x: number, speed: number, more: Partial<Motion> = {}): Motion => {
  return { ...REST, position: { x, y: 0 }, velocity: { x: speed, y: 0 }, start, ...more };
};

test("a turn that is known in time is drawn when it happens", () => {
  const track = new Track(going(0, 0, 1_000), 0);
  track.add(going(1_000, 1_000, 0, { sequence: 1 }));
  track.move(900, 16);
  expect(track.x).toBeCloseTo(900);
  track.move(1_500, 600);
  expect(track.x).toBeCloseTo(1_000);
});

test("a turn that is known late does not make it jump, and the difference fades", () => {
  const track = new Track(going(0, 0, 1_000), 0);
  track.move(1_000, 16);
  track.add(going(900, 900, 0, { sequence: 1 }));
  expect(track.x, "the same place in the same frame").toBeCloseTo(1_000);
  let last = track.x;
  for (let at = 1_016; at < 1_500; at += 16) {
    track.move(at, 16);
    expect(Math.abs(track.x - last)).toBeLessThan(25);
    last = track.x;
  }
  expect(last).toBeCloseTo(900, -1);
});

test("an object that was moved far away is there at once", () => {
  const track = new Track(going(0, 0, 0), 0);
  track.add(going(0, 90_000, 0, { generation: 1 }));
  track.move(16, 16);
  expect(track.x).toBe(90_000);
});

test("an older motion changes nothing", () => {
  const track = new Track(going(0, 500, 0, { sequence: 3 }), 0);
  track.add(going(0, 900, 0, { sequence: 2 }));
  track.move(16, 16);
  expect(track.x).toBe(500);
});

test("other objects are drawn a moment ago, steady ones and the own avatar now", () => {
  const view = new View<string>({ isSteady: (shown) => shown === "rocket" });
  const id = (counter: number) => ({ zone: 1, epoch: 1, counter });
  view.update(1_000, null, REST);
  view.see("a", id(1), "walker", going(0, 0, 1_000), false);
  view.see("b", id(2), "rocket", going(0, 0, 1_000), false);
  view.see("c", id(3), "me", going(0, 0, 1_000), true);
  view.update(1_000, "c", going(0, 0, 1_000));
  expect(["a", "b", "c"].map((key) => view.objects.get(key)?.track.x)).toEqual([900, 1_000, 1_000]);
});

test("an object that is seen again stays the same value; one that is not seen is dropped", () => {
  const view = new View<string>();
  const id = { zone: 1, epoch: 1, counter: 1 };
  view.see("a", id, "one", REST, false);
  view.see("b", id, "two", REST, false);
  const before = view.objects.get("a");
  view.forgetAll();
  view.see("a", id, "changed", REST, false);
  view.update(16, null, REST);
  expect(view.objects.get("a")).toBe(before);
  expect(before?.shown).toBe("changed");
  expect([...view.objects.keys()]).toEqual(["a"]);
});

test("an object whose motion begins in the future has not begun", () => {
  const view = new View<string>();
  view.update(1_000, null, REST);
  view.see("a", { zone: 1, epoch: 1, counter: 1 }, "new", going(1_000, 0, 0), false);
  view.update(1_050, null, REST);
  expect(view.objects.get("a")?.track.hasBegun).toBe(false);
  view.update(1_100, null, REST);
  expect(view.objects.get("a")?.track.hasBegun).toBe(true);
});
