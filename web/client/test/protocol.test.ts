// The table that crates/zone writes (src/msg.rs): the same bytes mean the same here.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DecodeError } from "../src/bytes.ts";
import { type Up, decodeDown, encodeUp } from "../src/protocol.ts";
import { chance, hexed, plain, unhex } from "./hex.ts";

const url = new URL("../../../crates/zone/testdata/messages-v1.txt", import.meta.url);
const table = readFileSync(url, "utf8").split("\n").filter((line) => line !== "").map((line) => {
  const at = line.indexOf(" ");
  return { hex: line.slice(0, at), value: JSON.parse(line.slice(at + 1)) as Record<string, unknown> };
});
const [ups, downs] = ["01", "02"].map((kind) => table.filter(({ hex }) => hex.startsWith(kind)));

/** JSON knows neither bytes nor big numbers. */
function up(value: Record<string, unknown>): Up {
  const named = ["player", "session"].filter((key) => key in value).map((key) => [key, BigInt(value[key] as string)]);
  const bytes = "action" in value ? { action: unhex(value["action"] as string) } : {};
  return { ...value, ...Object.fromEntries(named), ...bytes } as Up;
}

test("what a player says", () => {
  expect(ups?.length).toBe(5);
  ups?.forEach(({ hex, value }) => expect(hexed(encodeUp(up(value)))).toBe(hex));
});

test("who has heard nothing says so", () => {
  const enter: Up = { kind: "Enter", player: 1n, session: 2n, name: "", seen: null };
  expect(hexed(encodeUp(enter))).toBe("010001020000");
});

test("what a player hears", () => {
  expect(downs?.length).toBe(15);
  for (const { hex, value } of downs ?? []) {
    expect(plain(decodeDown(unhex(hex)))).toEqual({ zone: 3, epoch: 2, down: value });
    for (let length = 0; length < hex.length; length += 2) {
      expect(() => decodeDown(unhex(hex.slice(0, length))), hex.slice(0, length)).toThrow(DecodeError);
    }
    expect(() => decodeDown(unhex(`${hex}00`))).toThrow(DecodeError);
  }
});

test("damaged bytes are refused, or mean something else; nothing worse", () => {
  const draw = chance(5);
  for (let round = 0; round < 10_000; round++) {
    const bytes = unhex(downs?.[draw() % downs.length]?.hex ?? "");
    for (let count = draw() % 4; 0 <= count; count--) bytes[draw() % bytes.length] = draw();
    try {
      decodeDown(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
    }
  }
});
