// Texts of the page for people.

import type { Offer, Refusal } from "./kosmos.ts";

const REFUSALS: Record<Refusal["kind"], string> = {
  TooFar: "Too far away",
  Gone: "Another player was quicker",
  Cooldown: "Still loading",
  Full: "Your bag is full",
  NoSuchSlot: "That slot is empty",
  NotCarried: "You do not carry that",
  Poor: "Not enough coins",
  OfferChanged: "The offer has changed",
  NotForYou: "That offer is not for you",
  WrongItem: "They want something else",
  Dead: "You rise again in a moment",
  Stunned: "You are stunned",
  TooFast: "Not so fast",
  TooLong: "That is too long to say",
  NoAvatar: "That does not work here",
};

export function refusalText(refusal: Refusal): string {
  return REFUSALS[refusal.kind];
}

/** One side of a trade as text: "5 coins and a sword". */
export function goodsText(coins: number, item: string | undefined): string {
  const money = coins === 0 ? [] : [`${coins} ${coins === 1 ? "coin" : "coins"}`];
  const thing = item === undefined ? [] : [`a ${item.toLowerCase()}`];
  return [...money, ...thing].join(" and ") || "nothing";
}

export function offerText({ give, want }: Offer): string {
  return `${goodsText(give.coins, give.item?.kind.kind)} for ${goodsText(want.coins, want.kind?.kind)}`;
}

/** A number as people count: 1st, 2nd, 3rd, 11th. */
export function ordinal(count: number): string {
  const isTeen = 10 < count % 100 && count % 100 < 14;
  const ending = isTeen ? undefined : ["th", "st", "nd", "rd"][count % 10];
  return `${count}${ending ?? "th"}`;
}

const FIRST = ["Swift", "Quiet", "Amber", "Lucky", "Brave", "Misty", "Clever", "Silver", "Merry", "Bold", "Sunny", "Velvet"];
const SECOND = ["Otter", "Falcon", "Comet", "Badger", "Lynx", "Heron", "Fox", "Marten", "Wren", "Moth", "Hare", "Raven"];

/** A random name for a new player. */
export function friendlyName(): string {
  const pick = (words: string[]): string => words[Math.floor(Math.random() * words.length)] ?? "Fox";
  return `${pick(FIRST)} ${pick(SECOND)}`;
}
