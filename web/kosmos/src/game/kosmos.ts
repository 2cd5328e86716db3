// The generated types of Kosmos, bound to the client's generic types.

import type { ActionResult, ViewObject, World } from "@ecumene/client";
import type { Action, Avatar, Item, ItemKind, Notice, NpcKind, Offer, Refusal, Shown } from "../generated/kosmos.ts";

export type { Action, Avatar, Item, ItemKind, Notice, NpcKind, Offer, Refusal, Shown };

/** The overlay that is shown while an action has no result. */
export type Overlay =
  | { kind: "rocket"; x: number; y: number; angle: number }
  /** The item is on its way into the bag. */
  | { kind: "taken"; key: string };

export type Kosmos = World<Shown, Action, Notice, Refusal, Overlay>;
export type KosmosObject = ViewObject<Shown>;
export type KosmosResult = ActionResult<Refusal>;

export type ItemName = ItemKind["kind"];
export type NpcName = NpcKind["kind"];

export const ITEMS: readonly ItemName[] = ["Sword", "Shield", "Gem", "Map", "Flask"];

/** The visible part of any avatar, the player's own or another one. */
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

/** The player's own avatar, with its private part. */
export function meOf(world: Kosmos): Avatar | null {
  const shown = world.own?.shown;
  return shown?.kind === "Me" ? shown.value : null;
}
