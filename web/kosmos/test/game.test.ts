import { expect, test } from "vitest";
import { type Corner, depth } from "../src/game/region.ts";
import { goodsText } from "../src/game/words.ts";

const SQUARE: Corner[] = [[-10, -10], [10, -10], [10, 10], [-10, 10]];

test("depth is the way to the nearest edge, negative outside", () => {
  expect(depth(SQUARE, 0, 0)).toBe(10);
  expect(depth(SQUARE, 7, 0)).toBe(3);
  expect(depth(SQUARE, 0, -12)).toBe(-2);
});

test("goods in words", () => {
  expect(goodsText(0, undefined)).toBe("nothing");
  expect(goodsText(1, "Gem")).toBe("1 coin and a gem");
  expect(goodsText(5, undefined)).toBe("5 coins");
});
