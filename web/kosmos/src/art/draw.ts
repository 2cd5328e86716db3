// Every drawing of the page. Each is drawn once into a texture, which all objects of the same look share.
//
// Drawn facing east, UNIT pixels to the metre, white where the colour is put on later.

import { Graphics } from "pixi.js";

/** Pixels of a drawing per metre of the world. */
export const UNIT = 32;

/** A body seen from above: a cloak that trails behind, shoulders, a hood. White: tinted by name. */
export function avatarBody(): Graphics {
  const it = new Graphics();
  it.circle(-1, 2, 27).fill({ color: 0x000000, alpha: 0.24 });
  it.moveTo(4, -23).quadraticCurveTo(-20, -24, -30, -10).quadraticCurveTo(-24, 0, -30, 10).quadraticCurveTo(-20, 24, 4, 23);
  it.closePath().fill(0x7d8594);
  it.moveTo(-26, -6).quadraticCurveTo(-12, -4, -4, -12).moveTo(-26, 6).quadraticCurveTo(-12, 4, -4, 12);
  it.stroke({ width: 2, color: 0x000000, alpha: 0.18, cap: "round" });
  it.ellipse(1, 0, 13, 24).fill(0xc9ced8);
  it.circle(14, -18, 6).circle(17, 17, 6).fill(0xe9ecf2);
  it.circle(2, 0, 15).fill(0xffffff);
  it.circle(2, 0, 15).stroke({ width: 2, color: 0x000000, alpha: 0.22 });
  return it;
}

/** The untinted parts of a body: the dark of the hood, two eyes, the launcher. */
export function avatarGear(): Graphics {
  const it = new Graphics();
  it.roundRect(2, 15.5, 32, 8, 4).fill(0x343f57);
  it.roundRect(2, 15.5, 32, 8, 4).stroke({ width: 1.6, color: 0xa9b6d0 });
  it.roundRect(29, 14.5, 7, 10, 3).fill(0xff8a4c);
  it.ellipse(9, 0, 7, 10).fill(0x161d2c);
  for (const side of [-1, 1]) it.ellipse(12, side * 4.2, 2, 2.7).fill(0xfff3d6);
  return it;
}

/** A pale mark at the place of a fallen avatar. */
export function fallen(): Graphics {
  const it = new Graphics();
  it.ellipse(0, 0, 24, 18).fill({ color: 0x000000, alpha: 0.35 });
  it.roundRect(-4, -17, 8, 34, 3).fill(0xc4c9d6);
  it.roundRect(-13, -9, 26, 8, 3).fill(0xc4c9d6);
  return it;
}

export function deer(): Graphics {
  const it = new Graphics();
  it.ellipse(0, 1, 25, 12).fill({ color: 0x000000, alpha: 0.25 });
  for (const [x, y] of [[-14, -9], [-14, 9], [10, -9], [10, 9]] as const) it.ellipse(x, y, 6, 3).fill(0x8a6238);
  it.ellipse(-2, 0, 21, 9.5).fill(0xc8945a);
  it.ellipse(-2, 0, 21, 9.5).stroke({ width: 1.5, color: 0x8a6238 });
  for (const [x, y] of [[-12, -3], [-6, 4], [0, -4], [-14, 4], [5, 3]] as const) it.circle(x, y, 1.6).fill(0xf4deb8);
  it.ellipse(-23, 0, 4, 3).fill(0xf8efe0);
  it.ellipse(21, 0, 9, 5.5).fill(0xd6a56c);
  it.circle(29, 0, 2.2).fill(0x3b2a1c);
  for (const side of [-1, 1]) {
    it.ellipse(16, side * 7, 5, 2.2).fill(0xb5824b);
    it.moveTo(17, side * 4).quadraticCurveTo(12, side * 13, 20, side * 17).stroke({ width: 2, color: 0xefe3cb, cap: "round" });
    it.moveTo(14.5, side * 11).lineTo(9, side * 15).stroke({ width: 1.8, color: 0xefe3cb, cap: "round" });
    it.moveTo(16, side * 14.5).lineTo(14, side * 20).stroke({ width: 1.6, color: 0xefe3cb, cap: "round" });
  }
  return it;
}

export function hound(): Graphics {
  const it = new Graphics();
  it.ellipse(0, 3, 27, 14).fill({ color: 0x000000, alpha: 0.3 });
  it.moveTo(-19, 0).quadraticCurveTo(-27, -2, -31, -12).stroke({ width: 6, color: 0x6b7592, cap: "round" });
  for (const [x, y] of [[-13, -10], [-13, 10], [8, -11], [8, 11]] as const) it.roundRect(x - 5, y - 4, 13, 8, 4).fill(0x4d5671);
  it.roundRect(-24, -10, 38, 20, 10).fill(0x79839f);
  it.roundRect(-21, -4, 30, 8, 4).fill(0x5a6380);
  it.roundRect(-24, -10, 38, 20, 10).stroke({ width: 1.6, color: 0x3a4158 });
  it.poly([12, -8, 6, -19, 20, -11]).poly([12, 8, 6, 19, 20, 11]).fill(0x3f4760);
  it.circle(17, 0, 11.5).fill(0x8a94b0);
  it.circle(17, 0, 11.5).stroke({ width: 1.6, color: 0x3a4158 });
  it.roundRect(22, -5.5, 14, 11, 5).fill(0xb3bbd0);
  it.circle(34.5, 0, 3).fill(0x10141e);
  for (const side of [-1, 1]) it.circle(20.5, side * 5.4, 2.3).fill(0xff5346);
  return it;
}

/** Twigs around an egg; the egg's colour says what will hatch. */
export function nest(egg: number): Graphics {
  const it = new Graphics();
  it.circle(0, 0, 21).fill({ color: 0x000000, alpha: 0.3 });
  it.circle(0, 0, 18).fill(0x3d2f22);
  for (let turn = 0; turn < 26; turn++) {
    const angle = turn * 2.39996;
    const [x, y] = [Math.cos(angle) * 16, Math.sin(angle) * 16];
    const [dx, dy] = [Math.cos(angle + 1.3) * 7, Math.sin(angle + 1.3) * 7];
    const color = [0x7c5d3c, 0x96724a, 0x5e4630][turn % 3] ?? 0x7c5d3c;
    it.moveTo(x - dx, y - dy).lineTo(x + dx, y + dy).stroke({ width: 2.4, color, cap: "round" });
  }
  it.ellipse(0, 0, 8, 10).fill(egg);
  it.ellipse(-2.5, -3, 2.6, 3.6).fill({ color: 0xffffff, alpha: 0.55 });
  return it;
}

export function rocket(): Graphics {
  const it = new Graphics();
  it.poly([-16, -8, -8, -4, -8, 4, -16, 8]).fill(0xff5d73);
  it.moveTo(-12, -5).lineTo(8, -5).quadraticCurveTo(20, -3, 23, 0).quadraticCurveTo(20, 3, 8, 5).lineTo(-12, 5).closePath().fill(0xf3f5fa);
  it.rect(4, -5, 3.5, 10).fill(0xff8a4c);
  return it;
}

export function sword(): Graphics {
  const it = new Graphics();
  it.poly([-3.4, -20, 0, -27, 3.4, -20, 3.4, 8, -3.4, 8]).fill(0xdfe6f2);
  it.poly([0, -27, 3.4, -20, 3.4, 8, 0, 8]).fill(0xa9b6cd);
  it.roundRect(-11, 7, 22, 5, 2.5).fill(0xffc86b);
  it.roundRect(-2.8, 12, 5.6, 11, 2).fill(0x7b4a2d);
  it.circle(0, 25, 3.6).fill(0xffc86b);
  it.rotation = Math.PI / 4;
  return it;
}

export function shield(): Graphics {
  const it = new Graphics();
  const shape = (inset: number): Graphics => {
    const [w, top, mid, low] = [18 - inset, -20 + inset, 3, 23 - inset * 1.2];
    return it.moveTo(0, top).quadraticCurveTo(w * 0.6, top + 4, w, top + 3).lineTo(w, mid)
      .quadraticCurveTo(w * 0.9, low * 0.7, 0, low).quadraticCurveTo(-w * 0.9, low * 0.7, -w, mid).lineTo(-w, top + 3)
      .quadraticCurveTo(-w * 0.6, top + 4, 0, top).closePath();
  };
  shape(0).fill(0xd9dfec);
  shape(3.5).fill(0x3f7fd6);
  it.poly([0, -13, 3.4, -3.4, 13, -3.2, 5.4, 2.6, 8, 12, 0, 6.4, -8, 12, -5.4, 2.6, -13, -3.2, -3.4, -3.4]).fill(0xffe2a8);
  return it;
}

export function gem(): Graphics {
  const it = new Graphics();
  it.poly([-12, -16, 12, -16, 22, -4, 0, 23, -22, -4]).fill(0xb07bff);
  it.poly([-12, -16, 0, -4, -22, -4]).fill(0xcfaeff);
  it.poly([12, -16, 0, -4, 22, -4]).fill(0x9a5cf2);
  it.poly([-12, -16, 12, -16, 0, -4]).fill(0xe5d3ff);
  it.poly([-22, -4, 0, -4, 0, 23]).fill(0xa168f7);
  it.poly([22, -4, 0, -4, 0, 23]).fill(0x7c41d6);
  return it;
}

export function map(): Graphics {
  const it = new Graphics();
  const fold = (x: number, tilt: number, color: number): void => {
    it.poly([x, -18 + tilt, x + 14, -18 - tilt, x + 14, 18 - tilt, x, 18 + tilt]).fill(color);
  };
  fold(-21, -2.5, 0xf0dfb6);
  fold(-7, 2.5, 0xdcc794);
  fold(7, -2.5, 0xf0dfb6);
  it.moveTo(-15, 9).bezierCurveTo(-8, -10, 4, 14, 9, -3).stroke({ width: 2.2, color: 0xb0773c, cap: "round" });
  it.moveTo(8, -12).lineTo(15, -5).moveTo(15, -12).lineTo(8, -5).stroke({ width: 3, color: 0xd94b4b, cap: "round" });
  return it;
}

export function flask(): Graphics {
  const it = new Graphics();
  it.moveTo(-6, -14).lineTo(-6, -3).lineTo(-17, 15).quadraticCurveTo(-19, 23, -10, 23).lineTo(10, 23)
    .quadraticCurveTo(19, 23, 17, 15).lineTo(6, -3).lineTo(6, -14).closePath().fill({ color: 0xdff3ff, alpha: 0.45 });
  it.moveTo(-11.5, 6).lineTo(-17, 15).quadraticCurveTo(-19, 23, -10, 23).lineTo(10, 23).quadraticCurveTo(19, 23, 17, 15)
    .lineTo(11.5, 6).quadraticCurveTo(0, 10, -11.5, 6).closePath().fill(0x52d6a0);
  it.circle(-4, 14, 2.4).circle(5, 17, 1.8).circle(2, 11, 1.4).fill({ color: 0xffffff, alpha: 0.75 });
  it.roundRect(-8.5, -18, 17, 5, 2.5).fill(0xcfe6f5);
  it.roundRect(-5, -25, 10, 8, 2).fill(0x9b6a3f);
  return it;
}

/** Tufts, stones and small lights that make standing still and walking look different. */
export function tuft(): Graphics {
  const it = new Graphics();
  for (const [tip, height, color] of [[-9, 15, 0x2b4a47], [-4, 21, 0x35605a], [1, 24, 0x3f7268], [6, 19, 0x33594f], [11, 13, 0x29453f]] as const) {
    it.moveTo(tip * 0.3 - 2, 0).quadraticCurveTo(tip * 0.5, -height * 0.6, tip, -height)
      .quadraticCurveTo(tip * 0.6 + 2, -height * 0.5, tip * 0.3 + 2, 0).fill(color);
  }
  return it;
}

export function stone(): Graphics {
  const it = new Graphics();
  it.ellipse(2, 4, 17, 10).fill({ color: 0x000000, alpha: 0.3 });
  it.poly([-15, 4, -11, -7, 0, -11, 11, -7, 15, 3, 8, 9, -8, 9]).fill(0x35405a);
  it.poly([-11, -7, 0, -11, 3, -2, -8, 0]).fill(0x4a5777);
  it.poly([0, -11, 11, -7, 3, -2]).fill(0x414d6b);
  return it;
}

export function flower(): Graphics {
  const it = new Graphics();
  it.moveTo(0, 2).quadraticCurveTo(2, -6, 0, -12).stroke({ width: 1.8, color: 0x3f7268 });
  for (let petal = 0; petal < 5; petal++) {
    const angle = (petal / 5) * 2 * Math.PI;
    it.circle(Math.cos(angle) * 4, -14 + Math.sin(angle) * 4, 3).fill(0xdfe9ff);
  }
  it.circle(0, -14, 2.4).fill(0xffc86b);
  return it;
}
