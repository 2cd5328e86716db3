// Colours. Night, soft lights, a few warm ones.

export const INK = 0x0a0e17;
export const NIGHT = 0x101725;
export const TEXT = 0xe8ecf4;
export const GOLD = 0xffc86b;
export const EMBER = 0xff8a4c;
export const ROSE = 0xff5d73;
export const MINT = 0x6be3b0;
export const SKY = 0x74b8ff;
export const BORDER = 0xff2020;

/** Hues of avatars: easy to distinguish, none of them the red of danger. */
const AVATAR_HUES = [0x74b8ff, 0x6be3b0, 0xffc86b, 0xc79bff, 0x66e0e6, 0xff9ed2, 0xb4e36b, 0xffa97a, 0x93a8ff, 0xe6d36b];

/** The colour of a player: the same on every screen, because it is derived from the name. */
export function colourOf(name: string): number {
  let hash = 2166136261;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16777619);
  return AVATAR_HUES[(hash >>> 0) % AVATAR_HUES.length] ?? SKY;
}

export function cssColour(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}
