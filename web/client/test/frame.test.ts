import { expect, test } from "vitest";
import { DecodeError } from "../src/bytes.ts";
import { decodeControl, encodeControl, type Control } from "../src/control.ts";
import { FRAME_MAX, FrameStream, decodeBody, encodeFrame, framesOf } from "../src/frame.ts";
import { chance, hexed, unhex } from "./hex.ts";

test("a frame is its body's length, a zone's number and a message", () => {
  expect(hexed(encodeFrame(1, unhex("aabb")))).toBe("0301aabb");
  expect(hexed(encodeFrame(300, unhex("")))).toBe("02ac02");
  expect(decodeBody(unhex("ac02ff"))).toEqual({ zone: 300, message: unhex("ff") });
});

test("a stream is the same frames, however it is cut", () => {
  const bodies = [unhex("01"), new Uint8Array(200).fill(7), unhex("02ff"), new Uint8Array(70_000).fill(9)];
  const stream = unhex(bodies.map((body) => lengthHex(body.length) + hexed(body)).join(""));
  const draw = chance(3);
  for (let round = 0; round < 20; round++) {
    const cutter = new FrameStream();
    const frames: string[] = [];
    for (let at = 0; at < stream.length; ) {
      const end = Math.min(stream.length, at + 1 + (draw() % (round < 10 ? 5_000 : 90_000)));
      frames.push(...cutter.push(stream.slice(at, end)).map(hexed));
      at = end;
    }
    expect(frames).toEqual(bodies.map(hexed));
  }
});

function lengthHex(length: number): string {
  let hex = "";
  for (; 0x80 <= length; length = Math.floor(length / 0x80)) hex += ((length % 0x80) | 0x80).toString(16);
  return hex + length.toString(16).padStart(2, "0");
}

test("an impossible length is refused before any memory is allocated for it", () => {
  expect(() => new FrameStream().push(unhex(lengthHex(FRAME_MAX + 1)))).toThrow(DecodeError);
  expect(() => new FrameStream().push(unhex("ffffffffff"))).toThrow(DecodeError);
});

test("a packet holds whole frames, and at least one", () => {
  expect(framesOf(unhex("0101 00 02aabb")).map(hexed)).toEqual(["01", "", "aabb"]);
  for (const bytes of ["", "02", "0201", "0101 05 01", "ff"]) {
    expect(() => framesOf(unhex(bytes)), bytes).toThrow(DecodeError);
  }
});

/** Written by hand from docs/net.md. */
const CONTROLS: [string, Control][] = [
  ["00 01 03 616263", { kind: "Hello", version: 1, token: "abc" }],
  ["01 07 02 01 ac02", { kind: "Welcome", host: 7, zones: [1, 300] }],
  ["02 ffffffffffffffffff01", { kind: "Ping", number: 2n ** 64n - 1n }],
  ["03 05", { kind: "Pong", number: 5n }],
  ["04 8001", { kind: "Lagging", lost: 128 }],
];

test("control messages", () => {
  for (const [hex, control] of CONTROLS) {
    expect(decodeControl(unhex(hex))).toEqual(control);
    expect(encodeControl(control)).toEqual(unhex(hex));
    expect(() => decodeControl(unhex(`${hex}00`)), hex).toThrow(DecodeError);
    expect(() => decodeControl(unhex(hex).subarray(0, -1)), hex).toThrow(DecodeError);
  }
  expect(() => decodeControl(unhex("05"))).toThrow(DecodeError);
});
