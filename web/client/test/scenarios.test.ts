// The player's half of the protocol by example: the tables of crates/zone/testdata/player, which crates/zone writes
// (its README explains the notation). This player must give exactly the same lines.

import { readFileSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { Bench } from "./scenarios/bench.ts";

const folder = new URL("../../../crates/zone/testdata/player/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));

test("there are tables", () => expect(names.length).toBeGreaterThanOrEqual(20));

test.each(names)("%s", (name) => {
  const table = readFileSync(new URL(name, folder), "utf8");
  expect(run(table)).toBe(table);
});

/** Runs a table: blocks of comments and steps, each with the player's expected lines after `----`. */
function run(table: string): string {
  const bench = new Bench();
  const blocks = table.split("\n\n").map((block) => {
    const asked = (block.split("----")[0] ?? "").replace(/^\n+|\n+$/g, "");
    const steps = asked.split("\n").filter((line) => !line.startsWith("#"));
    return steps.length === 0 ? asked : `${asked}\n----\n${bench.block(steps)}`;
  });
  return `${blocks.join("\n\n")}\n`;
}
