import { expect, test } from "vitest";
import { type Corner, depth, innerEdges, signs } from "../src/game/region.ts";
import { goodsText } from "../src/game/texts.ts";

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

test("goods as text", () => {
  expect(goodsText(0, undefined)).toBe("nothing");
  expect(goodsText(1, "Gem")).toBe("1 coin and a gem");
  expect(goodsText(5, undefined)).toBe("5 coins");
});
