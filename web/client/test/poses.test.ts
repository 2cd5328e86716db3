// The golden tables of crates/wire hold here, too. [wire-06]

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DecodeError } from "../src/bytes.ts";
import { keyOf } from "../src/object.ts";
import { decodePose, decodePoses, framesOfPoses } from "../src/poses.ts";
import { chance, unhex } from "./hex.ts";

function table(name: string): string[] {
  const url = new URL(`../../../crates/wire/testdata/${name}.txt`, import.meta.url);
  return readFileSync(url, "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

function pairs(name: string): [string, Uint8Array][] {
  return table(name).map((line) => {
    const at = line.indexOf("=");
    return [line.slice(0, at).trim(), unhex(line.slice(at + 1))];
  });
}

test("golden poses", () => {
  const lines = table("pose");
  let checked = 0;
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const words = new Map((lines[index] ?? "").split(" ").map((word) => word.split("=") as [string, string]));
    const number = (name: string): number => Number(words.get(name) ?? 0);
    const bytes = unhex(lines[index + 1] ?? "");
    // Times beyond 2^53 ms are refused here, because a number cannot hold them exactly.
    if (Number.MAX_SAFE_INTEGER < number("start")) {
      expect(() => decodePose(bytes)).toThrow(DecodeError);
      continue;
    }
    const [zone, epoch, counter] = (words.get("object") ?? "").split(".").map(Number);
    expect(decodePose(bytes), lines[index]).toEqual({
      object: keyOf({ zone: zone ?? 0, epoch: epoch ?? 0, counter: counter ?? 0 }),
      motion: {
        position: { x: number("x"), y: number("y") },
        velocity: { x: number("vx"), y: number("vy") },
        heading: number("heading"),
        start: number("start"),
        generation: number("generation"),
        sequence: number("sequence"),
      },
    });
    checked++;
  }
  expect(checked).toBeGreaterThan(5);
});

test("bytes that are no pose", () => {
  for (const [why, bytes] of pairs("refused")) expect(() => decodePose(bytes), why).toThrow(DecodeError);
});

test("golden datagrams", () => {
  for (const [what, bytes] of pairs("datagram")) {
    const count = Number(what);
    if (Number.isNaN(count)) expect(() => framesOfPoses(bytes), what).toThrow(DecodeError);
    else expect(framesOfPoses(bytes).length).toBe(count);
  }
});

test("random bytes are refused with a DecodeError at most", () => {
  const draw = chance(7);
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from({ length: draw() % 90 }, () => draw());
    if (round % 2 === 0) bytes[0] = 0xd1;
    try {
      decodePoses(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
    }
  }
});
