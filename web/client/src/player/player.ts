// The player's half of the protocol: finds the primary, numbers actions and keeps them until they are answered, moves the
// avatar, and knows the objects in sight.
//
// It believes its home, in the epoch in which it was let in or a later one, and per object the highest (incarnation,
// version); a later owner of the avatar is the new home. Whenever a zone lets it in, also the same one again, it sends
// unanswered actions again; no timer repeats them. It has no clock and does no I/O: time and messages are passed in, messages
// and events are passed out.
//
// Its parts own their fields and do not know each other; `Player` joins them and sends messages. crates/zone/src/player has
// the same parts, and crates/zone/testdata/player holds scenarios that both must reproduce.

import type { WorldClock } from "../clock.ts";
import type { Motion, Vector } from "../motion.ts";
import { type Key, type ObjectId, keyOf } from "../object.ts";
import type { Closed, FromPlayer, LoadLevel, Outcome, ShownObject, ToPlayer } from "../protocol.ts";
import { Actions, type Unanswered } from "./actions.ts";
import { Avatar } from "./avatar.ts";
import { Contacts } from "./contacts.ts";
import { EchoTimer } from "./echo_timer.ts";
import { Home } from "./home.ts";
import { KnownObjects, type VisibleObject } from "./known_objects.ts";
import { Links, type Peer, peerOf } from "./links.ts";
import { Search } from "./search.ts";

/** A move is repeated this often, ms: at first because it may be lost, later to learn that the zone is alive. */
const MOVE_EVERY = 200;
/** After this much silence, ms, the primary may be gone: the player asks the zone's replicas, then all replicas. */
const SILENT = 400;
/** The same for a zone that told that it is busy, ms: it is late, not gone. */
const SILENT_BUSY = 1_500;
/** A timer later than this, ms, means that the page itself was busy: messages may be unread, so the zone gets more time. */
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

/** The lane of a message: reliable and in order, or unreliable, where a newer one replaces an older one. */
export type Lane = "sure" | "latest";

/** The outputs of the machine. */
export interface PlayerOut {
  send(peer: Peer, lane: Lane, message: FromPlayer): void;
  raise(event: PlayerEvent): void;
}

export type PlayerEvent =
  /** A zone has let the player in, with this avatar. */
  | { kind: "Entered"; avatar: ObjectId }
  /** The zone is silent; play continues when a primary answers. */
  | { kind: "Searching" }
  /** The result of an action. `id` is the value that `act` returned; `took` is the time since `act`, ms. */
  | { kind: "Answered"; id: number; outcome: Outcome; took: number }
  /** A notice of the game. */
  | { kind: "Notice"; notice: Uint8Array }
  /** All objects in sight follow anew, as `Seen`. */
  | { kind: "Sight" }
  /** An object is new in sight, or has changed. */
  | { kind: "Seen"; key: Key; seen: VisibleObject }
  /** Only the motion of an object changed. */
  | { kind: "Heard"; key: Key; motion: Motion }
  /** An object was removed, or left the sight. */
  | { kind: "Lost"; key: Key }
  /** A zone corrected the avatar's motion, or an event moved the avatar. */
  | { kind: "Corrected"; motion: Motion }
  /** The zone does not let the player in. */
  | { kind: "Closed"; why: Closed }
  /** The replicas whose hosts the client should be connected to; null: all hosts. */
  | { kind: "Contacts"; replicas: Peer[] | null }
  /** The load level of the home has changed. */
  | { kind: "Load"; load: LoadLevel };

/** The order breaks ties between timers that are due together. */
const TIMERS = ["ask", "move", "silence", "contacts"] as const;
type Timer = (typeof TIMERS)[number];

export class Player {
  private readonly config: PlayerConfig;
  private readonly out: PlayerOut;
  private now = 0;
  private readonly timers = new Map<Timer, number>();
  private readonly links = new Links();
  private readonly contacts = new Contacts();
  private readonly home = new Home();
  private readonly search: Search;
  private readonly actions = new Actions();
  private readonly avatar = new Avatar();
  private readonly objects = new KnownObjects();
  private readonly echoes = new EchoTimer();
  /** The load level of the home, as it told last. */
  private load: LoadLevel = "Calm";
  /** True after the player left or was superseded: it sends nothing more and ignores all messages. */
  private closed = false;

  constructor(config: PlayerConfig, out: PlayerOut) {
    this.config = config;
    this.out = out;
    this.search = new Search(config.chance);
  }

  get me(): Key | null {
    return this.avatar.key;
  }

  /** The replica that the player believes at the moment. */
  get homePeer(): Peer | null {
    return this.home.peer;
  }

  /** The highest known epoch of the home's zone. */
  get epoch(): number {
    return this.home.epoch;
  }

  /** The zone that let the player in last; 0 before any did. */
  get zone(): number {
    return this.home.zone;
  }

  get isSearching(): boolean {
    return this.search.isOn;
  }

  get clock(): WorldClock {
    return this.echoes.clock;
  }

  /** All objects in sight, by key. */
  get inSight(): ReadonlyMap<Key, VisibleObject> {
    return this.objects.inSight;
  }

  /** The motion of the player's avatar, ahead of the zone's. */
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

  /** All objects in sight with their incarnation and version. */
  versions(): { object: ObjectId; incarnation: number; version: number }[] {
    return this.objects.versions();
  }

  // Commands of the owner.

  /** Sends an action. Returns its id, or null if too many actions are unanswered or no zone has let the player in. */
  act(now: number, action: Uint8Array): number | null {
    this.now = now;
    if (this.actions.isFull || this.avatar.key === null || this.closed) return null;
    if (ACTION_MAX < action.length) throw new RangeError(`an action of ${action.length} bytes is more than a zone takes`);
    const taken = this.actions.take(action, now);
    this.sendAct(taken);
    return taken.id;
  }

  /** Changes the avatar's velocity (mm/s) and heading (65536ths of a turn). */
  steer(now: number, velocity: Vector, heading: number): void {
    this.now = now;
    if (this.avatar.key === null || this.closed) return;
    this.avatar.steer(this.clock.now(now), velocity, heading);
    this.showOwn();
    this.sendMove();
  }

  /** Takes in a pose from a carrier. */
  hear(now: number, key: Key, motion: Motion): void {
    this.now = now;
    if (key !== this.avatar.key && this.objects.hear(key, motion)) this.out.raise({ kind: "Heard", key, motion });
  }

  leave(now: number): void {
    this.now = now;
    if (this.home.peer !== null) this.out.send(this.home.peer, "sure", { kind: "Leave" });
    this.close();
  }

  /** Ends this player for good, with its timers. */
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

  /** Shows the avatar with the player's own motion, not with an older one from a zone. */
  private showOwn(): void {
    if (this.avatar.key !== null) this.objects.put(this.avatar.key, this.avatar.motion);
  }

  // Links and time.

  linkUp(now: number, peer: Peer, link: number): void {
    this.now = now;
    this.links.up(peer, link);
    // On a new link the home knows nothing of the player: it must let the player in again.
    if (this.search.isOn || this.home.peer === peer) this.startSearch();
  }

  linkDown(now: number, peer: Peer, link: number): void {
    this.now = now;
    if (!this.links.down(peer, link) || this.home.peer !== peer) return;
    this.home.peer = null;
    this.startSearch();
  }

  receive(now: number, from: Peer, link: number, zone: number, epoch: number, message: ToPlayer): void {
    this.now = now;
    if (this.links.isNewest(from, link) && !this.closed) this.onMessage(from, zone, epoch, message);
  }

  /** The time of the next call of `wake`; null if none is needed. */
  deadline(): number | null {
    const times = [...this.timers.values()];
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Runs all timers that are due. */
  wake(now: number): void {
    this.now = now;
    for (let due = this.takeDue(); due !== null; due = this.takeDue()) this.onTimer(due.timer, LATE < now - due.at);
  }

  /** Removes and returns the earliest timer that is due. */
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
    if (timer === "contacts") {
      this.contacts.expire(this.now);
      this.showContacts();
    }
  }

  private onSilence(isLate: boolean): void {
    const { heard } = this.home;
    const isSilent = this.patience <= this.now - heard;
    // Forgiven once per silence: a page whose timers are always late must not wait for ever.
    const isPatient = isSilent && isLate && this.home.forgive();
    // A search that is on asks by itself, and more and more rarely.
    if (isSilent && !isPatient && this.search.isOn) this.tellSearch();
    else if (isSilent && !isPatient) this.startSearch();
    this.timers.set("silence", isPatient ? this.now + LATE : (isSilent ? this.now : heard) + this.patience);
  }

  /** Time after which a silent home may have another primary, ms. */
  private get patience(): number {
    return this.load === "Calm" ? SILENT : SILENT_BUSY;
  }

  // The search for the primary.

  /**
   * Asks replicas to let the player in: first those that may belong to the home's zone, if any is connected, then all
   * connected ones.
   */
  private ask(): void {
    const near = this.links.thatMayBeOf(this.home.zone);
    const isNarrow = this.avatar.key !== null && 0 < near.length && this.search.isNarrow;
    this.timers.set("ask", this.search.ask(this.now));
    if (this.search.isLong && this.contacts.wantAll()) {
      this.timers.delete("contacts");
      this.out.raise({ kind: "Contacts", replicas: null });
    }
    const { player, session, name } = this.config;
    for (const peer of isNarrow ? near : this.links.all()) {
      this.out.send(peer, "sure", { kind: "Enter", player, session, name, seen: this.home.seen });
    }
  }

  private startSearch(): void {
    if (this.closed) return;
    this.search.begin();
    this.tellSearch();
    this.ask();
  }

  /** Tells the owner of the search, once. */
  private tellSearch(): void {
    if (this.avatar.key !== null && this.search.tell()) this.out.raise({ kind: "Searching" });
  }

  // Messages from zones.

  private onMessage(from: Peer, zone: number, epoch: number, message: ToPlayer): void {
    if (message.kind === "Leads") return this.onLeads(from, zone, epoch);
    if (message.kind === "Entered" || message.kind === "NotHere") this.links.learnZone(from, zone);
    if (this.home.isStale(from, zone, epoch, message, this.avatar.key)) return;
    if (this.home.peer === from || message.kind === "Entered") this.home.raiseEpoch(zone, epoch);
    this.dispatch(from, zone, epoch, message);
    if (this.home.peer === from) this.home.heard = this.now;
  }

  private dispatch(from: Peer, zone: number, epoch: number, message: ToPlayer): void {
    switch (message.kind) {
      case "Entered":
        this.home.enter(zone, epoch, message.incarnation, message.lost);
        this.actions.renumberFrom(message.cursor);
        return this.onEntered(from, message.avatar, message.motion, message.time);
      case "NotHere":
        return this.onNotHere(from);
      case "Closed":
        return this.onClosed(from, message.why);
      case "Sight":
        return this.onSight(message.index, message.objects);
      case "Told":
        return this.onTold(message);
      case "Result":
        return this.onResult(message.number, message.outcome);
      case "Views":
        return this.onViews(message.shown, message.hidden);
      case "Moved":
        return this.onMoved(message.generation, message.sequence, message.time);
      case "Corrected":
        return this.onCorrected(message.motion);
      case "Contacts":
        this.contacts.name(this.now, message.replicas.map(peerOf), this.links.all());
        return this.showContacts();
      case "Load":
        return this.onLoad(message.load);
      case "Leads":
        return; // Taken by `onMessage`: it may come from a replica that is not the home.
    }
  }

  /**
   * Another replica of the home's zone has become primary: the player asks now, before the search that its predecessor's silence
   * would begin.
   */
  private onLeads(from: Peer, zone: number, epoch: number): void {
    this.links.learnZone(from, zone);
    const isNews = this.avatar.key !== null && zone === this.home.zone && this.home.epoch < epoch;
    if (!isNews || this.home.peer === from || this.closed) return;
    this.home.peer = null;
    this.search.begin();
    this.ask();
  }

  private onLoad(load: LoadLevel): void {
    if (this.load === load) return;
    this.load = load;
    this.out.raise({ kind: "Load", load });
  }

  /** Tells the owner the contacts, and sets the timer for the next one that is given up. */
  private showContacts(): void {
    this.out.raise({ kind: "Contacts", replicas: this.contacts.wanted });
    const at = this.contacts.nextExpiry;
    if (at === null) this.timers.delete("contacts");
    else this.timers.set("contacts", at);
  }

  private onEntered(from: Peer, avatar: ObjectId, motion: Motion, time: number): void {
    this.clock.learn(this.search.asked, this.now, time);
    const key = keyOf(avatar);
    if (this.home.peer === from && !this.search.isOn && this.avatar.key === key) return;
    this.avatar.enter(key, motion);
    // Another primary has its own load level, and tells it if it is not calm.
    if (this.home.peer !== from) this.onLoad("Calm");
    this.home.peer = from;
    this.search.end();
    this.timers.delete("ask");
    this.timers.set("silence", this.now + this.patience);
    this.out.raise({ kind: "Entered", avatar });
    this.actions.unanswered.forEach((it) => this.sendAct(it));
    this.sendMove();
  }

  private onNotHere(from: Peer): void {
    if (this.home.peer !== from) return;
    // Another zone owns the avatar now and will let the player in. The owner hears of the search only if that takes long.
    if (this.search.beginWide()) this.ask();
  }

  private onClosed(from: Peer, why: Closed): void {
    if (this.home.peer === from) this.home.peer = null;
    if (why === "Superseded") this.close();
    this.out.raise({ kind: "Closed", why });
  }

  private onSight(index: number, objects: ShownObject[]): void {
    this.home.see(index);
    if (this.home.mayKnowLess) this.objects.forgetVersions();
    this.objects.keep(this.now, objects);
    this.out.raise({ kind: "Sight" });
    this.objects.inSight.forEach((seen, key) => this.out.raise({ kind: "Seen", key, seen }));
    objects.forEach((it) => this.see(it));
    this.showOwn();
  }

  private onTold({ index, shown, gone, notices }: Extract<ToPlayer, { kind: "Told" }>): void {
    shown.forEach((it) => this.see(it));
    gone.forEach(({ object, version }) => {
      if (this.objects.lose(this.now, keyOf(object), version)) this.out.raise({ kind: "Lost", key: keyOf(object) });
    });
    if (this.home.isNews(index)) notices.forEach((notice) => this.out.raise({ kind: "Notice", notice }));
    this.home.see(index);
  }

  private onViews(shown: ShownObject[], hidden: ObjectId[]): void {
    shown.forEach((it) => this.see(it));
    for (const key of this.objects.hide(this.now, hidden.map(keyOf))) this.out.raise({ kind: "Lost", key });
  }

  private see(shown: ShownObject): void {
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
