// Kosmos as this page knows it: the generated types, tied to the client.

import type { Answer, Thing, World } from "@ecumene/client";
import type { Action, Avatar, Item, ItemKind, Notice, NpcKind, Offer, Refusal, Shown } from "../generated/kosmos.ts";

export type { Action, Avatar, Item, ItemKind, Notice, NpcKind, Offer, Refusal, Shown };

/** What is shown while an action is not answered. */
export type Overlay =
  | { kind: "rocket"; x: number; y: number; angle: number }
  /** The item is on its way into the bag. */
  | { kind: "taken"; key: string };

export type Kosmos = World<Shown, Action, Notice, Refusal, Overlay>;
export type KosmosThing = Thing<Shown>;
export type KosmosAnswer = Answer<Refusal>;

export type ItemName = ItemKind["kind"];
export type NpcName = NpcKind["kind"];

export const ITEMS: readonly ItemName[] = ["Sword", "Shield", "Gem", "Map", "Flask"];

/** What one sees of any avatar, the own one or another's. */
export interface Person {
  name: string;
  health: number;
  score: number;
  offer: Offer | null;
}

export function personOf(shown: Shown): Person | null {
  if (shown.kind === "Me") return shown.value;
  return shown.kind === "Avatar" ? shown : null;
}

/** The own avatar, all of it. */
export function meOf(world: Kosmos): Avatar | null {
  const shown = world.own?.shown;
  return shown?.kind === "Me" ? shown.value : null;
}
