import { expect, test } from "vitest";
import { type Corner, depth, innerEdges, signs } from "../src/game/region.ts";
import { goodsText, ordinal } from "../src/game/texts.ts";

const SQUARE: Corner[] = [[-10, -10], [10, -10], [10, 10], [-10, 10]];

test("depth is the way to the nearest edge, negative outside", () => {
  expect(depth(SQUARE, 0, 0)).toBe(10);
  expect(depth(SQUARE, 7, 0)).toBe(3);
  expect(depth(SQUARE, 0, -12)).toBe(-2);
});

test("borders are the sides that zones share; names stand on either side", () => {
  const west: Corner[] = [[-10, -10], [0, -10], [0, 10], [-10, 10]];
  const east: Corner[] = [[0, -10], [10, -10], [10, 10], [0, 10]];
  const zones = [{ zone: 1, corners: west }, { zone: 2, corners: east }];
  expect(innerEdges(SQUARE, zones)).toEqual([
    { zone: 1, edge: [[0, -10], [0, 10]] },
    { zone: 2, edge: [[0, 10], [0, -10]] },
  ]);
  for (const { zone, at: [x, y] } of signs(SQUARE, zones)) {
    expect(depth(zone === 1 ? west : east, x, y)).toBeGreaterThan(1);
  }
  expect(innerEdges(SQUARE, [{ zone: 1, corners: SQUARE }])).toEqual([]);
});

test("places as text", () => {
  expect([1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 101, 111, 112, 1_003].map(ordinal).join(" ")).toBe(
    "1st 2nd 3rd 4th 10th 11th 12th 13th 21st 22nd 101st 111th 112th 1003rd",
  );
});

test("goods as text", () => {
  expect(goodsText(0, undefined)).toBe("nothing");
  expect(goodsText(1, "Gem")).toBe("1 coin and a gem");
  expect(goodsText(5, undefined)).toBe("5 coins");
});
