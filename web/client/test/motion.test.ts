import { expect, test } from "vitest";
import { type Motion, REST, angleOf, headingOf, isNewer, positionAt, rebased } from "../src/motion.ts";

function moving(x: number, speed: number): Motion {
  return { ...REST, position: { x, y: x }, velocity: { x: speed, y: -speed }, start: 10 };
}

test("rounding goes down on both sides of zero", () => {
  expect(positionAt(moving(0, 1), 10 + 333.333)).toEqual({ x: 0, y: -1 });
});

test("before its start a motion waits", () => {
  expect(positionAt(moving(5, 1_000), 0)).toEqual({ x: 5, y: 5 });
});

test("a trajectory stops at the end of the range", () => {
  expect(positionAt(moving(0, 2 ** 24 - 1), 2 ** 40)).toEqual({ x: 2 ** 30 - 1, y: -(2 ** 30) });
});

test("travel is the exact floor", () => {
  const exact = (speed: number, micros: number): bigint => {
    const product = BigInt(speed) * BigInt(micros);
    const quotient = product / 1_000_000n;
    return product % 1_000_000n < 0n ? quotient - 1n : quotient;
  };
  for (const speed of [1, -1, 5_999, -5_999, 2 ** 24 - 1, 1 - 2 ** 24]) {
    for (const micros of [0, 1, 999_999, 1_000_001, 59_999_999, 63_000_001]) {
      const motion = { ...REST, velocity: { x: speed, y: 0 } };
      expect(BigInt(positionAt(motion, micros / 1000).x), `${speed} ${micros}`).toBe(exact(speed, micros));
    }
  }
});

test("rebasing does not start a motion early", () => {
  const motion = { ...moving(0, 1_000), start: 500 };
  expect(positionAt(rebased(motion, 100), 1_500)).toEqual(positionAt(motion, 1_500));
});

test("a teleport outranks every earlier step", () => {
  const [step, teleport] = [{ ...REST, generation: 1, sequence: 900 }, { ...REST, generation: 2 }];
  expect([isNewer(teleport, step), isNewer(step, teleport), isNewer(step, step)]).toEqual([true, false, false]);
});

test("the compass is right", () => {
  expect([0, Math.PI / 2, Math.PI, -Math.PI / 2].map(headingOf)).toEqual([0, 16384, 32768, 49152]);
  expect(headingOf(2 * Math.PI - 1e-9)).toBe(0);
  expect(headingOf(angleOf(8192))).toBe(8192);
});
