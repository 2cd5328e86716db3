// The generated module decodes and encodes every vector as Rust does.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as kosmos from "../src/generated/kosmos.ts";

interface Vector {
  type: "State" | "Shown" | "Action" | "Notice" | "Refusal" | "Letter";
  hex: string;
  value: unknown;
}

const module = kosmos as unknown as Record<string, (value: unknown) => unknown>;
const url = new URL("../src/generated/kosmos.vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(url, "utf8")) as Vector[];

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, plain(it)]));
}

test("every vector", () => {
  expect(vectors.length).toBeGreaterThan(100);
  for (const { type, hex, value } of vectors) {
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
    const decoded = module[`decode${type}`]?.(bytes);
    expect(plain(decoded)).toEqual(value);
    expect(Buffer.from(module[`encode${type}`]?.(decoded) as Uint8Array).toString("hex")).toBe(hex);
  }
});
