// The golden table of crates/zone (src/msg.rs): the same bytes decode to the same messages here.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DecodeError } from "../src/bytes.ts";
import { type FromPlayer, decodeToPlayer, encodeFromPlayer } from "../src/protocol.ts";
import { chance, hexed, plain, unhex } from "./hex.ts";

const url = new URL("../../../crates/zone/testdata/messages-v2.txt", import.meta.url);
const table = readFileSync(url, "utf8").split("\n").filter((line) => line !== "").map((line) => {
  const at = line.indexOf(" ");
  return { hex: line.slice(0, at), value: JSON.parse(line.slice(at + 1)) as Record<string, unknown> };
});
const [fromPlayer, toPlayer] = ["01", "02"].map((kind) => table.filter(({ hex }) => hex.startsWith(kind)));

/** A message from its JSON, which has neither bytes nor big numbers. */
function fromJson(value: Record<string, unknown>): FromPlayer {
  const named = ["player", "session"].filter((key) => key in value).map((key) => [key, BigInt(value[key] as string)]);
  const bytes = "action" in value ? { action: unhex(value["action"] as string) } : {};
  return { ...value, ...Object.fromEntries(named), ...bytes } as FromPlayer;
}

test("messages from a player", () => {
  expect(fromPlayer?.length).toBe(5);
  fromPlayer?.forEach(({ hex, value }) => expect(hexed(encodeFromPlayer(fromJson(value)))).toBe(hex));
});

test("a player without records enters with none", () => {
  const enter: FromPlayer = { kind: "Enter", player: 1n, session: 2n, name: "", seen: null };
  expect(hexed(encodeFromPlayer(enter))).toBe("010001020000");
});

test("messages to a player", () => {
  expect(toPlayer?.length).toBe(18);
  for (const { hex, value } of toPlayer ?? []) {
    expect(plain(decodeToPlayer(unhex(hex)))).toEqual({ zone: 3, epoch: 2, message: value });
    for (let length = 0; length < hex.length; length += 2) {
      expect(() => decodeToPlayer(unhex(hex.slice(0, length))), hex.slice(0, length)).toThrow(DecodeError);
    }
    expect(() => decodeToPlayer(unhex(`${hex}00`))).toThrow(DecodeError);
  }
});

test("damaged bytes decode to some message, or are refused with a DecodeError", () => {
  const draw = chance(5);
  for (let round = 0; round < 10_000; round++) {
    const bytes = unhex(toPlayer?.[draw() % toPlayer.length]?.hex ?? "");
    for (let count = draw() % 4; 0 <= count; count--) bytes[draw() % bytes.length] = draw();
    try {
      decodeToPlayer(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(DecodeError);
    }
  }
});
