// One visit to the world: connects the player's input, the world's events and the screen.

import { type Lobby, type Pass, type SessionEnd, type TransportKind, type WaitOptions, World, keyOf } from "@ecumene/client";
import { MINT } from "../art/palette.ts";
import * as kosmos from "../generated/kosmos.ts";
import { listenToKeys } from "../input/keyboard.ts";
import type { Scene } from "../scene/scene.ts";
import { Chat } from "../ui/chat.ts";
import { $ } from "../ui/dom.ts";
import { Hud } from "../ui/hud.ts";
import { Minimap } from "../ui/minimap.ts";
import { showScores } from "../ui/scores.ts";
import { StatusPanel } from "../ui/status.ts";
import { feed, toast } from "../ui/toasts.ts";
import { Trade } from "../ui/trade.ts";
import { PlayerActions } from "./player_actions.ts";
import { RecentEvents } from "./recent_events.ts";
import { type Kosmos, type KosmosResult, type KosmosObject, type Notice, type Overlay, meOf, personOf } from "./kosmos.ts";
import type { Corner } from "./region.ts";
import { BLAST, PICK_UP_REACH, RISE_AFTER } from "./rules.ts";
import { Steering } from "./steering.ts";
import { refusalText } from "./texts.ts";

/** Interval at which the lists at the side are updated, ms. */
const LISTS_EVERY = 200;
/** A shorter silence of the zone is not shown to the player, ms. */
const PILL_AFTER = 700;

export interface PlayOptions extends WaitOptions {
  lobby: Lobby;
  pass: Pass;
  transport: TransportKind | undefined;
  scene: Scene;
  over: (why: SessionEnd | "left", reason: string) => void;
}

export class Play {
  readonly world: Kosmos;
  readonly actions: PlayerActions;
  readonly steering: Steering;
  readonly recentEvents = new RecentEvents();
  private readonly scene: Scene;
  private readonly chat: Chat;
  private readonly hud: Hud;
  private readonly minimap: Minimap;
  private readonly trade: Trade;
  private readonly status = new StatusPanel();
  private readonly visit = new AbortController();
  private isFiring = false;
  /** Position of the mouse; null until it moves, and on phones. */
  private pointer: { x: number; y: number } | null = null;
  /** Direction in which the pad aims, radians; null while it is not touched. */
  private padAngle: number | null = null;
  private listsAt = 0;
  private inSight = 0;
  private fellAt: number | null = null;
  private lostAt: number | null = null;

  static async start(options: PlayOptions): Promise<Play> {
    const { lobby, pass, transport, onWaiting, signal } = options;
    const isSteady = (shown: kosmos.Shown): boolean => shown.kind === "Rocket";
    const world: Kosmos = await World.join<kosmos.Shown, kosmos.Action, kosmos.Notice, kosmos.Refusal, Overlay>(kosmos, {
      lobby,
      pass: pass.pass,
      transport,
      isSteady,
      onWaiting,
      signal,
    });
    return new Play(world, options);
  }

  private constructor(world: Kosmos, { scene, over }: PlayOptions) {
    this.world = world;
    this.scene = scene;
    this.actions = new PlayerActions(world);
    this.steering = new Steering(world);
    this.chat = new Chat((text) => void this.actions.say(text).then(this.report), this.visit.signal);
    this.hud = new Hud(scene.textures.icons, (slot) => this.drop(slot));
    this.minimap = new Minimap(world.info);
    const { icons } = scene.textures;
    this.trade = new Trade({ world, actions: this.actions, icons, report: this.report });
    const metres = (corners: Corner[]): Corner[] => corners.map(([x, y]) => [x / 1000, y / 1000]);
    const zones = world.info.zones.map(({ zone, corners }) => ({ zone, corners: metres(corners) }));
    scene.setRegion(metres(world.info.region), zones);
    this.showBorders(1 < zones.length);
    this.listen();
    world.on("notice", ({ notice }) => this.onNotice(notice));
    world.on("answered", ({ action, answer }) => this.recentEvents.answered(action, answer));
    world.on("corrected", () => this.steering.corrected(performance.now()));
    world.on("closed", ({ why }) => why !== "Superseded" && toast(why === "Full" ? "The world is full: waiting for a place" : "The world admits no players right now"));
    world.on("over", ({ why, reason }) => {
      this.end();
      over(why, reason);
    });
  }

  // Input of the player.

  private listen(): void {
    const wishes = {
      walk: (x: number, y: number) => this.walk(x, y),
      fire: (isDown: boolean) => this.fire(isDown),
      take: () => this.take(),
      drop: () => this.drop((meOf(this.world)?.bag.length ?? 0) - 1),
      trade: () => this.tradeWithNearest(),
      talk: () => this.talk(),
      borders: () => this.showBorders(!this.scene.hasBorders),
      status: () => this.toggleStatus(),
      escape: () => this.trade.close(),
    };
    listenToKeys(wishes, this.visit.signal);
    this.status.onBorders((isShown) => this.showBorders(isShown));
  }

  private end(): void {
    this.visit.abort();
    this.trade.close();
    document.body.classList.remove("dead");
    $("fallen").hidden = $("pill").hidden = $("crowded").hidden = true;
  }

  walk(x: number, y: number): void {
    this.steering.wish = { x, y };
    // Without an aim the avatar looks in its walking direction.
    const isAiming = this.pointer !== null || this.padAngle !== null;
    if (!isAiming && (x !== 0 || y !== 0)) this.steering.angle = Math.atan2(y, x);
  }

  aim(x: number, y: number): void {
    if (document.body.classList.contains("touching")) return;
    this.pointer = { x, y };
    const own = this.world.own?.track;
    if (own === undefined) return;
    const { camera } = this.scene;
    this.steering.angle = Math.atan2(camera.worldY(y) - own.y / 1000, camera.worldX(x) - own.x / 1000);
  }

  fire(isDown: boolean): void {
    this.isFiring = isDown;
  }

  shoot(angle: number | null): void {
    this.padAngle = angle;
    if (angle !== null) this.steering.angle = angle;
    this.isFiring = angle !== null;
  }

  /** Selects an item in reach at this point, or, for a finger, also a player to trade with. */
  press(x: number, y: number, isTouch: boolean): boolean {
    const item = this.thingAt(x, y, (thing) => thing.shown.kind === "Item");
    const own = this.world.own?.track;
    if (item !== undefined && own !== undefined) {
      const way = Math.hypot(item.track.x - own.x, item.track.y - own.y) / 1000;
      if (way <= PICK_UP_REACH || isTouch) {
        this.pickUp(item.key);
        return true;
      }
    }
    if (isTouch) this.ask(x, y);
    return false;
  }

  /** Opens a trade with the player at this point. */
  ask(x: number, y: number): void {
    const other = this.thingAt(x, y, (thing) => thing.shown.kind === "Avatar");
    if (other !== undefined) this.trade.open(other.key);
  }

  take(): void {
    const nearest = this.actions.nearestItem();
    if (nearest === null) return toast("Nothing to take here");
    this.pickUp(nearest.key);
  }

  talk(): void {
    this.chat.open();
  }

  toggleStatus(): void {
    this.status.toggle();
  }

  private showBorders(isShown: boolean): void {
    this.scene.hasBorders = this.minimap.hasBorders = isShown;
    this.status.showBorders(isShown);
  }

  private pickUp(key: string): void {
    void this.actions.pickUp(key).then((answer) => {
      this.report(answer);
      const own = this.world.own?.track;
      if (answer.kind === "done" && own !== undefined) this.scene.effects.puff(own.x / 1000, own.y / 1000, MINT, 8);
    });
  }

  private drop(slot: number): void {
    if (slot < 0) return toast("Your bag is empty");
    void this.actions.drop(slot).then(this.report);
  }

  private tradeWithNearest(): void {
    if (this.trade.isOpen) return this.trade.close();
    const nearest = this.actions.nearestPerson();
    if (nearest === null) return toast("No player to trade with in sight");
    this.trade.open(nearest.key);
  }

  private thingAt(x: number, y: number, isWanted: (thing: KosmosObject) => boolean): KosmosObject | undefined {
    const { camera } = this.scene;
    const [wx, wy] = [camera.worldX(x) * 1000, camera.worldY(y) * 1000];
    const reach = Math.max(1_100, (22 / camera.zoom) * 1000);
    let best: KosmosObject | undefined;
    let least = reach;
    for (const thing of this.world.objects.values()) {
      const way = Math.hypot(thing.track.x - wx, thing.track.y - wy);
      if (way < least && isWanted(thing)) [best, least] = [thing, way];
    }
    return best;
  }

  private report = (answer: KosmosResult): void => {
    if (answer.kind === "refused") toast(refusalText(answer.refusal));
    if (answer.kind === "failed") toast(answer.why);
  };

  // Events of the world.

  private onNotice(notice: Notice): void {
    this.recentEvents.noticed(notice);
    const nameOf = (id: kosmos.ObjectId): string => this.nameOf(id);
    switch (notice.kind) {
      case "Blast": {
        const [x, y] = [notice.place.x / 1000, notice.place.y / 1000];
        this.scene.effects.blast(x, y, BLAST);
        const { camera } = this.scene;
        return camera.shake(Math.max(0, 0.6 - Math.hypot(x - camera.x, y - camera.y) / 40));
      }
      case "Felled":
        if (keyOf(notice.victim) === keyOf(notice.by)) return feed({ who: nameOf(notice.by) }, " fell by their own rocket");
        return feed({ who: nameOf(notice.by) }, " felled ", { who: nameOf(notice.victim) });
      case "Traded":
        return feed({ who: nameOf(notice.from) }, " and ", { who: nameOf(notice.to) }, " made a bargain");
      case "Said": {
        const key = keyOf(notice.who);
        return this.chat.hear(key, nameOf(notice.who), notice.text, () => this.placeOf(key));
      }
    }
  }

  private nameOf(id: kosmos.ObjectId): string {
    const shown = this.world.objects.get(keyOf(id))?.shown;
    return (shown && personOf(shown)?.name) ?? "Another player";
  }

  private placeOf(key: string): { x: number; y: number } | null {
    const track = this.world.objects.get(key)?.track;
    return track === undefined ? null : { x: track.x / 1000, y: track.y / 1000 };
  }

  // Every drawing.

  draw(now: number, passed: number): void {
    this.world.update();
    if (this.pointer !== null) this.aim(this.pointer.x, this.pointer.y);
    this.steering.tick(now);
    if (this.isFiring) this.fireNow();
    const { world } = this;
    this.scene.draw({ objects: world.objects.values(), me: world.me, overlays: world.pending.values(), eye: null }, now, passed);
    this.chat.update(this.scene.camera);
    this.showOwn(now);
    this.showLost(now);
    if (LISTS_EVERY < now - this.listsAt) this.showLists(now);
    this.status.tick(world, now, this.inSight);
  }

  /** Fires if the launcher is loaded; holding the button fires again and again. */
  fireNow(angle = this.padAngle ?? this.steering.angle): Promise<KosmosResult> | null {
    const own = this.world.own?.track;
    const answer = this.actions.fire(angle);
    if (answer === null || own === undefined) return null;
    void answer.then(this.report);
    this.scene.effects.muzzle(own.x / 1000 + Math.cos(angle), own.y / 1000 + Math.sin(angle));
    return answer;
  }

  private showOwn(now: number): void {
    const me = meOf(this.world);
    if (me === null) return;
    this.hud.update(me);
    this.fellAt = 0 < me.health ? null : (this.fellAt ?? now);
    $("fallen").hidden = this.fellAt === null;
    if (this.fellAt === null) return;
    const left = Math.ceil((RISE_AFTER - (now - this.fellAt)) / 1000);
    $("fallen-text").textContent = 0 < left ? `You rise again in ${left}…` : "You rise again…";
  }

  private showLost(now: number): void {
    this.lostAt = this.world.state === "playing" ? null : (this.lostAt ?? now);
    $("crowded").hidden = this.world.loadLevel === "Calm" || this.world.state !== "playing";
    $("pill").hidden = this.lostAt === null || now - this.lostAt < PILL_AFTER || this.world.state === "over";
  }

  private showLists(now: number): void {
    this.listsAt = now;
    this.inSight = showScores(this.world, (key) => this.trade.open(key));
    this.minimap.draw(this.world);
    this.trade.update();
    const nearest = this.actions.nearestItem();
    const isTouch = document.body.classList.contains("touching");
    this.hud.hint(nearest?.inReach ? (isTouch ? "in reach" : "E: take it") : "");
  }
}
