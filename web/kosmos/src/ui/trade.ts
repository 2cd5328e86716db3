// Trade: the panel in which the player makes an offer, and the cards of offers by other players.

import type { PlayerActions, Terms } from "../game/player_actions.ts";
import { ITEMS, type Item, type ItemName, type Kosmos, type KosmosResult, type Offer, meOf, personOf } from "../game/kosmos.ts";
import { COINS_MAX, TRADE_REACH } from "../game/rules.ts";
import { goodsText, offerText } from "../game/texts.ts";
import { $, el } from "./dom.ts";

export interface TradeDeps {
  world: Kosmos;
  actions: PlayerActions;
  icons: Record<ItemName, string>;
  /** Tells the player the result of an action, if it failed. */
  report: (answer: KosmosResult) => void;
}

export class Trade {
  private readonly deps: TradeDeps;
  private readonly panel = $("trade");
  private partner: string | null = null;
  private terms: Terms = emptyTerms();
  private cards = "";

  constructor(deps: TradeDeps) {
    this.deps = deps;
  }

  get isOpen(): boolean {
    return this.partner !== null;
  }

  open(key: string): void {
    this.partner = key;
    this.terms = emptyTerms();
    this.draw();
    this.panel.hidden = false;
  }

  close(): void {
    this.partner = null;
    this.panel.hidden = true;
  }

  /** Updates or closes what has changed since it was shown. */
  update(): void {
    this.updateCards();
    if (this.partner === null) return;
    if (this.person() === null) return this.close();
    const note = this.panel.querySelector(".note");
    if (note !== null && note.textContent !== this.note()) note.textContent = this.note();
  }

  private person(): { name: string } | null {
    const thing = this.partner === null ? undefined : this.deps.world.objects.get(this.partner);
    return thing === undefined ? null : personOf(thing.shown);
  }

  private note(): string {
    const mine = meOf(this.deps.world)?.offer;
    if (mine) return `You offer ${offerText(mine)}.`;
    return this.distance(this.partner) <= TRADE_REACH ? "" : "Stand closer together to shake hands.";
  }

  private distance(key: string | null): number {
    const { world } = this.deps;
    const [own, other] = [world.own?.track, key === null ? undefined : world.objects.get(key)?.track];
    return own && other ? Math.hypot(own.x - other.x, own.y - other.y) / 1000 : Infinity;
  }

  // The panel.

  private draw(): void {
    const me = meOf(this.deps.world);
    const person = this.person();
    if (me === null || person === null) return;
    const { give, want } = this.terms;
    const redraw = (): void => this.draw();
    const offer = el("button", { className: "primary", id: "trade-offer" }, "Offer");
    offer.onclick = () => void this.offer();
    const actions = el("div", { className: "actions" }, offer);
    if (me.offer) {
      const withdraw = el("button", { className: "quiet", id: "trade-withdraw" }, "Withdraw");
      withdraw.onclick = () => void this.deps.actions.withdraw().then(redraw);
      actions.append(withdraw);
    }
    const close = el("button", { className: "icon close", ariaLabel: "Close" }, "✕");
    close.onclick = () => this.close();
    const bag = me.bag.map((item) => this.slot(item.kind.kind, give.item === item, () => {
      give.item = give.item === item ? null : item;
      redraw();
    }));
    const kinds = ITEMS.map((kind) => this.slot(kind, want.kind === kind, () => {
      want.kind = want.kind === kind ? null : kind;
      redraw();
    }));
    this.panel.replaceChildren(
      close,
      el("h2", {}, "Trade with ", el("b", {}, person.name)),
      el(
        "div",
        { className: "sides" },
        side("You give", coins("give-coins", give, Math.min(me.coins, COINS_MAX)), bag, "Your bag is empty."),
        side("You get", coins("want-coins", want, COINS_MAX), kinds, ""),
      ),
      el("p", { className: "note" }, this.note()),
      actions,
    );
  }

  private slot(kind: ItemName, isChosen: boolean, choose: () => void): HTMLElement {
    const slot = el("button", { className: `slot full ${isChosen ? "chosen" : ""}`, title: kind, ariaLabel: kind, onclick: choose });
    slot.dataset["kind"] = kind;
    slot.style.backgroundImage = `url(${this.deps.icons[kind]})`;
    return slot;
  }

  private async offer(): Promise<void> {
    const thing = this.partner === null ? undefined : this.deps.world.objects.get(this.partner);
    if (thing === undefined) return this.close();
    const answer = await this.deps.actions.offer(thing.object, this.terms);
    this.deps.report(answer);
    if (answer.kind === "done") this.close();
  }

  // The cards.

  private updateCards(): void {
    const { actions, world } = this.deps;
    const me = meOf(world);
    const offers = actions.offersToMe();
    const mine = me?.offer ?? null;
    const near = offers.map(({ from }) => this.distance(from.key) <= TRADE_REACH);
    const state = JSON.stringify([offers.map(({ from, offer }) => [from.key, offer]), near, me?.coins, me?.bag, mine]);
    if (state === this.cards) return;
    this.cards = state;
    const cards = offers.map(({ from, name, offer }, index) => this.card(from.key, name, offer, near[index] ?? false));
    if (mine !== null) cards.push(this.own(mine));
    $("offers").replaceChildren(...cards);
  }

  private card(key: string, name: string, offer: Offer, isNear: boolean): HTMLElement {
    const { world, actions, report } = this.deps;
    const missing = lacking(offer, meOf(world)?.coins ?? 0, meOf(world)?.bag ?? []);
    const accept = el("button", { className: "primary accept" }, missing ?? (isNear ? "Accept" : "Go nearer"));
    accept.disabled = missing !== null || !isNear;
    accept.onclick = () => {
      const from = world.objects.get(key)?.object;
      if (from !== undefined) void actions.accept(from, offer).then(report);
    };
    const give = goodsText(offer.give.coins, offer.give.item?.kind.kind);
    const want = goodsText(offer.want.coins, offer.want.kind?.kind);
    return el("div", { className: "panel offer" }, el("div", {}, el("b", {}, name), ` gives you ${give} for ${want}.`), accept);
  }

  private own(offer: Offer): HTMLElement {
    const { world, actions, report } = this.deps;
    let name = "another player";
    for (const { object, shown } of world.objects.values()) {
      if (object.counter === offer.to.counter && object.epoch === offer.to.epoch && object.zone === offer.to.zone) name = personOf(shown)?.name ?? name;
    }
    const withdraw = el("button", { className: "quiet withdraw" }, "Withdraw");
    withdraw.onclick = () => void actions.withdraw().then(report);
    return el("div", { className: "panel offer" }, el("div", {}, "You offer ", el("b", {}, name), ` ${offerText(offer)}.`), withdraw);
  }
}

function emptyTerms(): Terms {
  return { give: { coins: 0, item: null }, want: { coins: 0, kind: null } };
}

/** The reason why the player cannot accept an offer, in a few words; null if they can. */
function lacking({ want }: Offer, coins: number, bag: Item[]): string | null {
  if (coins < want.coins) return "Not enough coins";
  const { kind } = want;
  if (kind !== null && !bag.some((item) => item.kind.kind === kind.kind)) return `You have no ${kind.kind.toLowerCase()}`;
  return null;
}

function side(title: string, money: HTMLElement, goods: HTMLElement[], empty: string): HTMLElement {
  const box = el("div", { className: "goods" }, ...(goods.length === 0 ? [el("p", {}, empty)] : goods));
  return el("div", { className: "side" }, el("h3", {}, title), money, box);
}

function coins(id: string, of: { coins: number }, most: number): HTMLElement {
  const input = el("input", { id, className: "field", type: "text", inputMode: "numeric", value: String(of.coins), ariaLabel: "Coins" });
  const set = (value: number): void => {
    of.coins = Math.max(0, Math.min(most, Math.floor(value) || 0));
    input.value = String(of.coins);
  };
  input.oninput = () => set(Number(input.value));
  const step = (label: string, by: number): HTMLElement => el("button", { onclick: () => set(of.coins + by), ariaLabel: `${by} coins` }, label);
  return el("div", { className: "coins" }, step("−", -1), input, step("+", 1), el("span", {}, "coins"));
}
