// The player's half of the protocol: finds the replica that reigns, numbers actions and sends them until they are answered,
// moves the avatar, and knows what is in sight.
//
// It believes its home, in the epoch in which it was let in or a later one, and per object the highest (incarnation,
// version); a later owner of the avatar is the new home. After any switch it sends again what was not answered. It has no
// clock and does no I/O: time and messages are handed in, messages and happenings are handed out.
//
// Its parts own their fields and do not know each other; the machine joins them and speaks. crates/zone/src/player has the
// same parts, and crates/zone/testdata/player shows what both do.

import type { WorldClock } from "../clock.ts";
import type { Motion, Vector } from "../motion.ts";
import { type Key, type ObjectId, keyOf } from "../object.ts";
import type { Closed, Down, Outcome, Shown, Up } from "../protocol.ts";
import { Actions, type Unanswered } from "./actions.ts";
import { Avatar } from "./avatar.ts";
import { EchoTimer } from "./echo_timer.ts";
import { Home } from "./home.ts";
import { KnownObjects, type Seen } from "./known_objects.ts";
import { Links, type Peer } from "./links.ts";
import { Search } from "./search.ts";

/** A move is said again this often: at first because it may be lost, then to hear that the zone is there. */
const MOVE_EVERY = 200;
/** A zone that was silent for this long may be gone: its replicas are asked which one reigns, then all are. */
const SILENT = 400;
/** A player that wakes later than this was busy or asleep itself, and gives the zone more time: what it said may not be read yet. */
const LATE = 100;
/** The most bytes of an action (crates/game/src/config.rs). */
const ACTION_MAX = 1024;

export interface PlayerConfig {
  player: bigint;
  session: bigint;
  name: string;
  /** A number from 0 up to 1, to spread questions over time. */
  chance: () => number;
}

/** How a message must travel: in order and surely, or quickly, where a newer one replaces an older one. */
export type Lane = "sure" | "latest";

/** What the machine does to the world outside. */
export interface PlayerOut {
  send(peer: Peer, lane: Lane, up: Up): void;
  raise(happening: Happening): void;
}

export type Happening =
  /** The player is in, with this avatar. */
  | { kind: "Entered"; avatar: ObjectId }
  /** The zone is silent; play goes on when another answers. */
  | { kind: "Searching" }
  /** What became of an action: `id` is what `act` gave, whatever number it had in the end. `took`: ms after the wish. */
  | { kind: "Answered"; id: number; outcome: Outcome; took: number }
  /** What the game says. */
  | { kind: "Notice"; notice: Uint8Array }
  /** Everything in sight is told anew. */
  | { kind: "Sight" }
  /** An object is new or changed. */
  | { kind: "Seen"; key: Key; seen: Seen }
  /** An object moves differently, and nothing else about it changed. */
  | { kind: "Heard"; key: Key; motion: Motion }
  /** An object is gone, or out of sight. */
  | { kind: "Lost"; key: Key }
  /** The avatar was set back. */
  | { kind: "Corrected"; motion: Motion }
  /** The zone does not let the player in. */
  | { kind: "Closed"; why: Closed };

/** The order breaks ties between timers that are due together. */
const TIMERS = ["ask", "move", "silence"] as const;
type Timer = (typeof TIMERS)[number];

export class Player {
  private readonly config: PlayerConfig;
  private readonly out: PlayerOut;
  private now = 0;
  private readonly timers = new Map<Timer, number>();
  private readonly links = new Links();
  private readonly home = new Home();
  private readonly search: Search;
  private readonly actions = new Actions();
  private readonly avatar = new Avatar();
  private readonly objects = new KnownObjects();
  private readonly echoes = new EchoTimer();
  /** Whether the player left or was superseded: it says nothing more and believes nothing more. */
  private closed = false;

  constructor(config: PlayerConfig, out: PlayerOut) {
    this.config = config;
    this.out = out;
    this.search = new Search(config.chance);
  }

  get me(): Key | null {
    return this.avatar.key;
  }

  /** The replica where the player acts at the moment. */
  get homePeer(): Peer | null {
    return this.home.peer;
  }

  /** The highest epoch of the home's zone heard. */
  get epoch(): number {
    return this.home.epoch;
  }

  /** The zone that let the player in last; 0 before the first. */
  get zone(): number {
    return this.home.zone;
  }

  get isSearching(): boolean {
    return this.search.isOn;
  }

  get clock(): WorldClock {
    return this.echoes.clock;
  }

  /** Everything in sight. */
  get inSight(): ReadonlyMap<Key, Seen> {
    return this.objects.inSight;
  }

  /** How the own avatar moves, as far as this player is concerned. */
  get motion(): Motion {
    return this.avatar.motion;
  }

  /** The number of the last action taken; 0 before the first. */
  get lastAction(): number {
    return this.actions.next - 1;
  }

  /** The numbers of the actions that are not answered. */
  get unansweredNumbers(): number[] {
    return this.actions.unanswered.map((it) => it.number);
  }

  /** Everything in sight with its incarnation and version. */
  versions(): { object: ObjectId; incarnation: number; version: number }[] {
    return this.objects.versions();
  }

  // Wants.

  /** Wants to do something. Gives the action's id, or null if too much is unanswered already or the player is not in. */
  act(now: number, action: Uint8Array): number | null {
    this.now = now;
    if (this.actions.isFull || this.avatar.key === null || this.closed) return null;
    if (ACTION_MAX < action.length) throw new RangeError(`an action of ${action.length} bytes is more than a zone takes`);
    const taken = this.actions.take(action, now);
    this.sendAct(taken);
    return taken.id;
  }

  /** Goes on like this: mm/s, and a heading in 65536ths of a turn. */
  steer(now: number, velocity: Vector, heading: number): void {
    this.now = now;
    if (this.avatar.key === null || this.closed) return;
    this.avatar.steer(this.clock.now(now), velocity, heading);
    this.showOwn();
    this.sendMove();
  }

  /** A carrier brought a pose. */
  hear(now: number, key: Key, motion: Motion): void {
    this.now = now;
    if (key !== this.avatar.key && this.objects.hear(key, motion)) this.out.raise({ kind: "Heard", key, motion });
  }

  leave(now: number): void {
    this.now = now;
    if (this.home.peer !== null) this.out.send(this.home.peer, "sure", { kind: "Leave" });
    this.close();
  }

  /** Ends the play for good: no timer runs on. */
  private close(): void {
    this.closed = true;
    this.home.peer = null;
    this.timers.clear();
  }

  private sendAct({ number, action }: Unanswered): void {
    if (this.home.peer === null) return;
    this.echoes.sentOther();
    const { acked } = this.actions;
    this.out.send(this.home.peer, "sure", { kind: "Act", number, acked, motion: this.avatar.motion, action });
  }

  private sendMove(): void {
    this.timers.set("move", this.now + MOVE_EVERY);
    if (this.home.peer === null) return;
    this.echoes.sentMove(this.now);
    this.out.send(this.home.peer, "latest", { kind: "Move", motion: this.avatar.motion });
  }

  /** The own avatar is where the player moved it, not where others last heard of it. */
  private showOwn(): void {
    if (this.avatar.key !== null) this.objects.put(this.avatar.key, this.avatar.motion);
  }

  // Links and time.

  linkUp(now: number, peer: Peer, link: number): void {
    this.now = now;
    this.links.up(peer, link);
    // A new link to the home: it has forgotten the player.
    if (this.search.isOn || this.home.peer === peer) this.startSearch();
  }

  linkDown(now: number, peer: Peer, link: number): void {
    this.now = now;
    if (!this.links.down(peer, link) || this.home.peer !== peer) return;
    this.home.peer = null;
    this.startSearch();
  }

  receive(now: number, from: Peer, link: number, zone: number, epoch: number, down: Down): void {
    this.now = now;
    if (this.links.isNewest(from, link) && !this.closed) this.onDown(from, zone, epoch, down);
  }

  /** When `wake` wants to be called next; null if never. */
  deadline(): number | null {
    const times = [...this.timers.values()];
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Does what is due. A wake with nothing due does nothing. */
  wake(now: number): void {
    this.now = now;
    for (let due = this.takeDue(); due !== null; due = this.takeDue()) this.onTimer(due.timer, LATE < now - due.at);
  }

  /** Takes the earliest timer that is due. */
  private takeDue(): { timer: Timer; at: number } | null {
    let due: { timer: Timer; at: number } | null = null;
    for (const timer of TIMERS) {
      const at = this.timers.get(timer) ?? Infinity;
      if (at <= this.now && at < (due?.at ?? Infinity)) due = { timer, at };
    }
    if (due !== null) this.timers.delete(due.timer);
    return due;
  }

  private onTimer(timer: Timer, isLate: boolean): void {
    if (timer === "move") this.sendMove();
    if (timer === "ask" && this.search.isOn) this.ask();
    if (timer === "silence") this.onSilence(isLate);
  }

  private onSilence(isLate: boolean): void {
    const { heard } = this.home;
    const isSilent = SILENT <= this.now - heard;
    // Once per silence: a page that is always late must not wait for ever.
    const isPatient = isSilent && isLate && this.home.forgive();
    if (isSilent && !isPatient) this.startSearch();
    this.timers.set("silence", isPatient ? this.now + LATE : (isSilent ? this.now : heard) + SILENT);
  }

  // Finding the replica that reigns.

  /**
   * Asks which replica lets the player in: first those that may be of the home's zone, if any can be reached, then all on the
   * line. Hosts may have come that were not there when the player started.
   */
  private ask(): void {
    const near = this.links.thatMayBeOf(this.home.zone);
    const isNarrow = this.avatar.key !== null && 0 < near.length && this.search.isNarrow;
    this.timers.set("ask", this.search.ask(this.now));
    const { player, session, name } = this.config;
    for (const peer of isNarrow ? near : this.links.all()) {
      this.out.send(peer, "sure", { kind: "Enter", player, session, name, seen: this.home.seen });
    }
  }

  private startSearch(): void {
    if (this.closed) return;
    this.search.begin();
    if (this.avatar.key !== null && this.search.tell()) this.out.raise({ kind: "Searching" });
    this.ask();
  }

  // What the zone says.

  private onDown(from: Peer, zone: number, epoch: number, down: Down): void {
    if (down.kind === "Entered" || down.kind === "NotHere") this.links.learnZone(from, zone);
    if (this.home.isStale(from, zone, epoch, down, this.avatar.key)) return;
    if (this.home.peer === from || down.kind === "Entered") this.home.raiseEpoch(zone, epoch);
    this.dispatch(from, zone, epoch, down);
    if (this.home.peer === from) this.home.heard = this.now;
  }

  private dispatch(from: Peer, zone: number, epoch: number, down: Down): void {
    switch (down.kind) {
      case "Entered":
        this.home.enter(zone, epoch, down.incarnation, down.lost);
        this.actions.goOnFrom(down.cursor);
        return this.onEntered(from, down.avatar, down.motion, down.time);
      case "NotHere":
        return this.onNotHere(from);
      case "Closed":
        return this.onClosed(from, down.why);
      case "Sight":
        return this.onSight(down.index, down.objects);
      case "Told":
        return this.onTold(down);
      case "Result":
        return this.onResult(down.number, down.outcome);
      case "Views":
        return this.onViews(down.shown, down.hidden);
      case "Moved":
        return this.onMoved(down.generation, down.sequence, down.time);
      case "Corrected":
        return this.onCorrected(down.motion);
    }
  }

  private onEntered(from: Peer, avatar: ObjectId, motion: Motion, time: number): void {
    this.clock.learn(this.search.asked, this.now, time);
    const key = keyOf(avatar);
    if (this.home.peer === from && !this.search.isOn && this.avatar.key === key) return;
    this.avatar.enter(key, motion);
    this.home.peer = from;
    this.search.end();
    this.timers.delete("ask");
    this.timers.set("silence", this.now + SILENT);
    this.out.raise({ kind: "Entered", avatar });
    this.actions.unanswered.forEach((it) => this.sendAct(it));
    this.sendMove();
  }

  private onNotHere(from: Peer): void {
    if (this.home.peer !== from) return;
    // The player plays elsewhere, and will hear where. Only if that takes long is its owner told.
    this.search.beginWide();
    this.ask();
  }

  private onClosed(from: Peer, why: Closed): void {
    if (this.home.peer === from) this.home.peer = null;
    if (why === "Superseded") this.close();
    this.out.raise({ kind: "Closed", why });
  }

  private onSight(index: number, objects: Shown[]): void {
    this.home.see(index);
    if (this.home.mayKnowLess) this.objects.forgetVersions();
    this.objects.keep(this.now, objects);
    this.out.raise({ kind: "Sight" });
    this.objects.inSight.forEach((seen, key) => this.out.raise({ kind: "Seen", key, seen }));
    objects.forEach((it) => this.see(it));
    this.showOwn();
  }

  private onTold({ index, shown, gone, notices }: Extract<Down, { kind: "Told" }>): void {
    shown.forEach((it) => this.see(it));
    gone.forEach(({ object, version }) => {
      if (this.objects.lose(this.now, keyOf(object), version)) this.out.raise({ kind: "Lost", key: keyOf(object) });
    });
    if (this.home.isNews(index)) notices.forEach((notice) => this.out.raise({ kind: "Notice", notice }));
    this.home.see(index);
  }

  private onViews(shown: Shown[], hidden: ObjectId[]): void {
    shown.forEach((it) => this.see(it));
    for (const key of this.objects.hide(this.now, hidden.map(keyOf))) this.out.raise({ kind: "Lost", key });
  }

  private see(shown: Shown): void {
    if (this.objects.isOld(shown)) return;
    const [key, { motion }] = [keyOf(shown.object), shown];
    if (this.avatar.follow(key, motion)) this.out.raise({ kind: "Corrected", motion });
    const seen = this.objects.see(shown);
    this.showOwn();
    this.out.raise({ kind: "Seen", key, seen });
  }

  private onResult(number: number, outcome: Outcome): void {
    const answered = this.actions.answer(number);
    if (answered === undefined) return;
    this.out.raise({ kind: "Answered", id: answered.id, outcome, took: this.now - answered.wanted });
    if (this.actions.unanswered.length === 0 && this.home.peer !== null) {
      this.out.send(this.home.peer, "sure", { kind: "Ack", acked: this.actions.acked });
    }
  }

  private onMoved(generation: number, sequence: number, time: number): void {
    const own = this.avatar.motion;
    this.echoes.heard(generation === own.generation && sequence === own.sequence, this.now, time);
  }

  private onCorrected(motion: Motion): void {
    this.avatar.setBack(motion);
    this.showOwn();
    this.out.raise({ kind: "Corrected", motion });
  }
}
