// The actions of a player: checks that spare a refusal, then the action with its overlay until the result arrives.

import { headingOf, idOf, type ObjectId } from "@ecumene/client";
import { type Item, type ItemName, type Kosmos, type KosmosResult, type KosmosObject, type Offer, meOf, personOf } from "./kosmos.ts";
import { PICK_UP_REACH, TEXT_MAX } from "./rules.ts";

/** The terms of an offer, as the player fills them in. */
export interface Terms {
  give: { coins: number; item: Item | null };
  want: { coins: number; kind: ItemName | null };
}

export class PlayerActions {
  private readonly world: Kosmos;
  private firing = false;

  constructor(world: Kosmos) {
    this.world = world;
  }

  get canFire(): boolean {
    const me = meOf(this.world);
    return me !== null && 0 < me.health && !this.firing && Number(me.ready_at) <= this.world.now;
  }

  /** Fires in this direction, radians. Null if the launcher is not loaded: then no action is sent. */
  fire(angle: number): Promise<KosmosResult> | null {
    const own = this.world.own;
    if (!this.canFire || own === undefined) return null;
    this.firing = true;
    const overlay = { kind: "rocket" as const, x: own.track.x / 1000, y: own.track.y / 1000, angle };
    const answer = this.world.act({ kind: "Fire", heading: headingOf(angle) }, overlay);
    void answer.finally(() => (this.firing = false));
    return answer;
  }

  pickUp(key: string): Promise<KosmosResult> {
    return this.world.act({ kind: "PickUp", item: idOf(key) }, { kind: "taken", key });
  }

  /** The nearest item, and true if it is within reach. */
  nearestItem(): { key: string; inReach: boolean } | null {
    const found = this.nearest((thing) => thing.shown.kind === "Item");
    return found === null ? null : { key: found.thing.key, inReach: found.distance <= PICK_UP_REACH };
  }

  /** The nearest other avatar that is alive. */
  nearestPerson(): KosmosObject | null {
    const isOther = (thing: KosmosObject): boolean => thing.shown.kind === "Avatar" && 0 < thing.shown.health;
    return this.nearest(isOther)?.thing ?? null;
  }

  drop(slot: number): Promise<KosmosResult> {
    return this.world.act({ kind: "Drop", slot });
  }

  offer(to: ObjectId, { give, want }: Terms): Promise<KosmosResult> {
    const kind = want.kind === null ? null : { kind: want.kind };
    return this.world.act({ kind: "OfferTrade", to, give, want: { coins: want.coins, kind } });
  }

  withdraw(): Promise<KosmosResult> {
    return this.world.act({ kind: "WithdrawOffer" });
  }

  /** Accepts an offer in its displayed version, paying with the first item that fits. */
  accept(from: ObjectId, offer: Offer): Promise<KosmosResult> {
    const wanted = offer.want.kind?.kind;
    const pay = wanted === undefined ? undefined : meOf(this.world)?.bag.find((item) => item.kind.kind === wanted);
    return this.world.act({ kind: "AcceptTrade", from, offer, pay: pay?.serial ?? null });
  }

  /** Offers that others make to this player. */
  offersToMe(): { from: KosmosObject; name: string; offer: Offer }[] {
    const me = this.world.own?.object;
    const found: { from: KosmosObject; name: string; offer: Offer }[] = [];
    for (const thing of this.world.objects.values()) {
      const person = thing.shown.kind === "Avatar" ? personOf(thing.shown) : null;
      const offer = person?.offer;
      if (person && offer && me && sameObject(offer.to, me)) found.push({ from: thing, name: person.name, offer });
    }
    return found;
  }

  say(text: string): Promise<KosmosResult> {
    return this.world.act({ kind: "Say", text: fitting(text.trim()) });
  }

  private nearest(isWanted: (thing: KosmosObject) => boolean): { thing: KosmosObject; distance: number } | null {
    const own = this.world.own;
    if (own === undefined) return null;
    let best: { thing: KosmosObject; distance: number } | null = null;
    for (const thing of this.world.objects.values()) {
      if (!isWanted(thing)) continue;
      const distance = Math.hypot(thing.track.x - own.track.x, thing.track.y - own.track.y) / 1000;
      if (best === null || distance < best.distance) best = { thing, distance };
    }
    return best;
  }
}

export function sameObject(one: ObjectId, other: ObjectId): boolean {
  return one.zone === other.zone && one.epoch === other.epoch && one.counter === other.counter;
}

/** The longest allowed beginning of a text: the limit counts bytes, not characters. */
function fitting(text: string): string {
  const bytes = (part: string): number => new TextEncoder().encode(part).length;
  let letters = [...text];
  while (TEXT_MAX < bytes(letters.join(""))) letters = letters.slice(0, -1);
  return letters.join("");
}
