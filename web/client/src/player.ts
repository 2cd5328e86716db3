// The player's half of the protocol: finds who reigns, numbers actions and sends them until they are answered, moves
// the avatar, and knows what is in sight. The same machine as crates/zone/src/player: both are held to the tables in
// crates/zone/testdata/player.
//
// It believes its home, in the epoch in which it was let in or a later one, and per object the highest (incarnation,
// version); whoever owns the avatar later is the new home. After any switch it sends again whatever was not answered. It has no clock and does no I/O: time and
// messages are handed in, messages and happenings are handed out.

import { WorldClock } from "./clock.ts";
import { type Motion, REST, type Vector, isNewer, rebased } from "./motion.ts";
import { type Key, type ObjectId, keyOf } from "./object.ts";
import type { Address, Closed, Down, Outcome, Shown, Up } from "./protocol.ts";

/** A move is said again this often: at first because it may be lost, then to hear that the zone is there. */
const MOVE_EVERY = 200;
/** An echo that takes longer is lost. */
const ECHO_MAX = 2_000;
/** A zone that was silent for this long may be gone: its replicas are asked who reigns, then everybody is. */
const SILENT = 400;
/** Who wakes later than this was busy or asleep itself, and gives the zone more time: what it said may not be read yet. */
const LATE = 100;
/** How long an answer is waited for before the same is asked again. */
const ASK_EVERY = 100;
/** How often only the home's zone is asked: mostly nothing is wrong but a datagram lost, and there may be hundreds of zones. */
const NARROW_ROUNDS = 4;
/** How long it is remembered what was last seen of what is out of sight. */
const REMEMBERED = 10_000;
/** The most actions that are out at once. */
export const UNANSWERED_MAX = 64;
/** The most bytes of an action (crates/game/src/config.rs). */
export const ACTION_MAX = 1024;

/** A replica, as a map's key: `host:zone`. */
export type Peer = string;

export function peerOf(address: Address): Peer {
  return `${address.host}:${address.zone}`;
}

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
  /** Everything in sight was told anew. */
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

/** An object in sight. */
export interface Seen {
  object: ObjectId;
  motion: Motion;
  shown: Uint8Array;
}

/** The newest state of an object that was told. */
interface Known {
  incarnation: number;
  version: number;
  /** Since when it is out of sight, if it is. */
  hidden: number | null;
}

interface Unanswered {
  id: number;
  number: number;
  action: Uint8Array;
  wanted: number;
}

/** The order breaks ties between timers that are due together. */
const TIMERS = ["ask", "move", "silence"] as const;
type Timer = (typeof TIMERS)[number];

/** The highest number that a motion's sequence can have. */
const SEQUENCE_MAX = 2 ** 32 - 1;

export class Player {
  readonly clock = new WorldClock();
  readonly objects = new Map<Key, Seen>();
  private readonly config: PlayerConfig;
  private readonly out: PlayerOut;
  private now = 0;
  private readonly timers = new Map<Timer, number>();
  private readonly links = new Map<Peer, number>();
  private homePeer: Peer | null = null;
  /** The home's zone, also while its replica is being looked for. */
  private homeZone = 0;
  /** The highest epoch heard of, per zone, and the one in which the home let us in. */
  private readonly epochs = new Map<number, number>();
  private entered = 0;
  /** The avatar's owners, counted: an earlier owner is not believed. */
  private incarnation = 0;
  /** The last record of the home heard of. */
  private seen = 0;
  private heard = 0;
  /** What `heard` was when a silence was forgiven because we were late ourselves. */
  private forgiven = -1;
  private asked = 0;
  private searching = true;
  /** How often this search has asked. */
  private rounds = 0;
  /** The zones of the replicas that ever answered. */
  private readonly zones = new Map<Peer, number>();
  /** Whether the owner knows that we search. */
  private toldSearching = false;
  /** Whether the home has lost some of what we have seen. */
  private mayKnowLess = false;
  private readonly known = new Map<Key, Known>();
  /** Whether the player left or was superseded: it says nothing more and believes nothing more. */
  private closed = false;
  private avatar: Key | null = null;
  private own: Motion = REST;
  /** When a move was sent whose echo tells the time, whether that echo is awaited, how many are under way. */
  private timed = 0;
  private timing = false;
  private echoes = 0;
  private next = 1;
  private ids = 0;
  private unanswered: Unanswered[] = [];
  private acked = 0;

  constructor(config: PlayerConfig, out: PlayerOut) {
    this.config = config;
    this.out = out;
  }

  get me(): Key | null {
    return this.avatar;
  }

  get home(): Peer | null {
    return this.homePeer;
  }

  /** The highest epoch of the home's zone heard. */
  get epoch(): number {
    return this.epochOf(this.homeZone);
  }

  /** The zone that let the player in last; 0 before the first. */
  get zone(): number {
    return this.homeZone;
  }

  private epochOf(zone: number): number {
    return this.epochs.get(zone) ?? 0;
  }

  get isSearching(): boolean {
    return this.searching;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** How the own avatar moves, as far as this player is concerned. */
  get motion(): Motion {
    return this.own;
  }

  /** The number of the last action taken; 0 before the first. */
  get lastAction(): number {
    return this.next - 1;
  }

  /** The numbers of the actions that are not answered. */
  get unansweredNumbers(): number[] {
    return this.unanswered.map((it) => it.number);
  }

  /** Everything in sight with its incarnation and version. */
  versions(): { object: ObjectId; incarnation: number; version: number }[] {
    return [...this.objects].map(([key, { object }]) => {
      const { incarnation, version } = this.known.get(key) ?? { incarnation: 0, version: 0 };
      return { object, incarnation, version };
    });
  }

  // Wants.

  /** Wants to do something. Gives the action's id, or null if too much is unanswered already or the player is not in. */
  act(now: number, action: Uint8Array): number | null {
    this.now = now;
    if (UNANSWERED_MAX <= this.unanswered.length || this.avatar === null || this.closed) return null;
    if (ACTION_MAX < action.length) throw new RangeError(`an action of ${action.length} bytes is more than a zone takes`);
    const one = { id: ++this.ids, number: this.next++, action, wanted: now };
    this.unanswered.push(one);
    this.sendAct(one);
    return one.id;
  }

  /** Goes on like this: mm/s, and a heading in 65536ths of a turn. */
  steer(now: number, velocity: Vector, heading: number): void {
    this.now = now;
    if (this.avatar === null || this.closed) return;
    const at = Math.max(this.clock.now(now), this.own.start);
    const sequence = Math.min(this.own.sequence + 1, SEQUENCE_MAX);
    this.own = { ...rebased(this.own, at), velocity, heading, start: Math.floor(at), sequence };
    this.showOwn();
    this.sendMove();
  }

  /** A carrier brought a pose. */
  hear(now: number, key: Key, motion: Motion): void {
    this.now = now;
    const known = this.objects.get(key);
    if (key === this.avatar || known === undefined || !isNewer(motion, known.motion)) return;
    known.motion = motion;
    this.out.raise({ kind: "Heard", key, motion });
  }

  leave(now: number): void {
    this.now = now;
    if (this.homePeer !== null) this.out.send(this.homePeer, "sure", { kind: "Leave" });
    this.close();
  }

  /** Ends the play for good: no timer runs on. */
  private close(): void {
    this.closed = true;
    this.homePeer = null;
    this.timers.clear();
  }

  // Links.

  linkUp(now: number, peer: Peer, link: number): void {
    this.now = now;
    this.links.set(peer, link);
    // A new link to our home: it has forgotten us.
    if (this.searching || this.homePeer === peer) this.search();
  }

  linkDown(now: number, peer: Peer, link: number): void {
    this.now = now;
    if (this.links.get(peer) !== link) return;
    this.links.delete(peer);
    this.zones.delete(peer);
    if (this.homePeer !== peer) return;
    this.homePeer = null;
    this.search();
  }

  receive(now: number, from: Peer, link: number, zone: number, epoch: number, down: Down): void {
    this.now = now;
    if (this.links.get(from) === link && !this.closed) this.onDown(from, zone, epoch, down);
  }

  // Time.

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
    if (timer === "move") return this.sendMove();
    if (timer === "ask") return this.searching ? this.ask() : undefined;
    const isSilent = SILENT <= this.now - this.heard;
    // Once per silence: a page that is always late must not wait for ever.
    const isPatient = isSilent && isLate && this.forgiven !== this.heard;
    if (isPatient) this.forgiven = this.heard;
    else if (isSilent) this.search();
    this.timers.set("silence", isPatient ? this.now + LATE : isSilent ? this.now + SILENT : this.heard + SILENT);
  }

  // Saying.

  private sendAct({ number, action }: Unanswered): void {
    if (this.homePeer === null) return;
    this.echoes++;
    this.out.send(this.homePeer, "sure", { kind: "Act", number, acked: this.acked, motion: this.own, action });
  }

  private sendMove(): void {
    this.timers.set("move", this.now + MOVE_EVERY);
    if (this.homePeer === null) return;
    this.timeEcho();
    this.out.send(this.homePeer, "latest", { kind: "Move", motion: this.own });
  }

  /**
   * Takes the time until the echo of what is sent now; not while others are under way, which look the same. Those that
   * are lost are not waited for.
   */
  private timeEcho(): void {
    if (this.echoes === 0 || ECHO_MAX < this.now - this.timed) {
      [this.timed, this.timing, this.echoes] = [this.now, true, 0];
    }
    this.echoes++;
  }

  /** The own avatar is where the player moved it, not where others last heard of it. */
  private showOwn(): void {
    const own = this.avatar === null ? undefined : this.objects.get(this.avatar);
    if (own !== undefined) own.motion = this.own;
  }

  /**
   * Asks which replica lets us in: first those of the home's zone and those whose zone is unknown, if any can be reached, then all on
   * the line. Hosts may have come that were not there when we started.
   */
  private ask(): void {
    this.asked = this.now;
    this.timers.set("ask", this.now + ASK_EVERY + (this.config.chance() * ASK_EVERY) / 2);
    const { player, session, name } = this.config;
    const seen = 0 < this.seen ? { zone: this.homeZone, epoch: this.epoch, index: this.seen } : null;
    const all = [...this.links.keys()];
    const near = all.filter((peer) => (this.zones.get(peer) ?? this.homeZone) === this.homeZone);
    const isNarrow = this.avatar !== null && this.rounds < NARROW_ROUNDS && 0 < near.length;
    this.rounds++;
    for (const peer of isNarrow ? near : all) {
      this.out.send(peer, "sure", { kind: "Enter", player, session, name, seen });
    }
  }

  private search(): void {
    if (this.closed) return;
    if (!this.searching) this.rounds = 0;
    this.searching = true;
    if (this.avatar !== null && !this.toldSearching) {
      this.toldSearching = true;
      this.out.raise({ kind: "Searching" });
    }
    this.ask();
  }

  // What the zone says.

  private onDown(from: Peer, zone: number, epoch: number, down: Down): void {
    if (down.kind === "Entered" || down.kind === "NotHere") this.zones.set(from, zone);
    if (this.isStale(from, zone, epoch, down)) return;
    if (this.homePeer === from || down.kind === "Entered") this.epochs.set(zone, Math.max(this.epochOf(zone), epoch));
    this.dispatch(from, zone, epoch, down);
    if (this.homePeer === from) this.heard = this.now;
  }

  private dispatch(from: Peer, zone: number, epoch: number, down: Down): void {
    switch (down.kind) {
      case "Entered":
        this.mayKnowLess = down.lost;
        if (down.lost) this.seen = 0;
        this.entered = epoch;
        this.moveTo(zone);
        this.numberFrom(down.cursor);
        this.incarnation = down.incarnation;
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

  /**
   * Whether this must not be believed. Only the home tells what happens, in the epoch in which it let us in or a
   * later one; others may only offer themselves, and not in an epoch that is over.
   */
  private isStale(from: Peer, zone: number, epoch: number, down: Down): boolean {
    switch (down.kind) {
      case "Entered": {
        const isEarlier = this.avatar === keyOf(down.avatar) && down.incarnation < this.incarnation;
        return epoch < this.epochOf(zone) || isEarlier;
      }
      case "Closed":
        return epoch < this.epochOf(zone);
      case "NotHere":
        return false;
      default:
        // Datagrams overtake, so the home's own epochs may be heard out of order.
        return this.homePeer !== from || epoch < this.entered;
    }
  }

  /** Records of another zone are counted anew. */
  private moveTo(zone: number): void {
    if (this.homeZone === zone) return;
    this.homeZone = zone;
    this.seen = 0;
  }

  /**
   * Goes on counting where the zone does. Earlier sessions of ours may have acted; or the world has lost its last
   * moments in a full stop, and with them actions whose results we heard.
   */
  private numberFrom(cursor: number): void {
    const first = this.unanswered[0]?.number ?? cursor + 1;
    if (0 < this.unanswered.length && first <= cursor + 1) return;
    this.unanswered.forEach((one, index) => (one.number = cursor + 1 + index));
    this.next = cursor + 1 + this.unanswered.length;
    this.acked = cursor;
  }

  private onEntered(from: Peer, avatar: ObjectId, motion: Motion, time: number): void {
    this.clock.learn(this.asked, this.now, time);
    const key = keyOf(avatar);
    if (this.homePeer === from && !this.searching && this.avatar === key) return;
    // Whoever takes over may not have heard of our last steps; an event that moved us it has.
    const { generation, sequence } = this.own;
    const hasWalkedOn = this.avatar === key && generation === motion.generation && motion.sequence <= sequence;
    if (!hasWalkedOn) this.own = motion;
    this.homePeer = from;
    this.searching = false;
    this.toldSearching = false;
    this.avatar = key;
    this.timers.delete("ask");
    this.timers.set("silence", this.now + SILENT);
    this.out.raise({ kind: "Entered", avatar });
    this.unanswered.forEach((one) => this.sendAct(one));
    this.sendMove();
  }

  private onNotHere(from: Peer): void {
    if (this.homePeer !== from) return;
    // We play elsewhere, and will hear where. Only if that takes long does anybody notice.
    this.searching = true;
    this.rounds = NARROW_ROUNDS;
    this.ask();
  }

  private onClosed(from: Peer, why: Closed): void {
    if (this.homePeer === from) this.homePeer = null;
    if (why === "Superseded") this.close();
    this.out.raise({ kind: "Closed", why });
  }

  private onSight(index: number, objects: Shown[]): void {
    this.seen = Math.max(this.seen, index);
    if (this.mayKnowLess) this.known.clear();
    // What we know newer than the home does stays as it is.
    const kept = new Set(objects.filter((it) => this.isOld(it)).map((it) => keyOf(it.object)));
    for (const key of [...this.objects.keys()]) if (!kept.has(key)) this.objects.delete(key);
    this.hideRest();
    this.out.raise({ kind: "Sight" });
    this.objects.forEach((seen, key) => this.out.raise({ kind: "Seen", key, seen }));
    objects.forEach((it) => this.see(it));
    this.showOwn();
  }

  /** What is not in sight is remembered for a while: a zone that has heard less of it than we have may show it again. */
  private hideRest(): void {
    for (const [key, known] of this.known) {
      if (!this.objects.has(key)) known.hidden ??= this.now;
      if (known.hidden !== null && REMEMBERED <= this.now - known.hidden) this.known.delete(key);
    }
  }

  private onTold({ index, shown, gone, notices }: Extract<Down, { kind: "Told" }>): void {
    shown.forEach((it) => this.see(it));
    gone.forEach(({ object, version }) => this.lose(keyOf(object), version));
    // Notices of a record that was heard before are told again after a switch: once is enough. Those of a
    // neighbour have no number here, and are not told again.
    if (this.seen < index || index === 0) notices.forEach((notice) => this.out.raise({ kind: "Notice", notice }));
    this.seen = Math.max(this.seen, index);
  }

  private onViews(shown: Shown[], hidden: ObjectId[]): void {
    shown.forEach((it) => this.see(it));
    hidden.forEach((object) => this.hide(keyOf(object)));
    this.hideRest();
  }

  private isOld({ object, incarnation, version }: Shown): boolean {
    const known = this.known.get(keyOf(object));
    if (known === undefined || incarnation !== known.incarnation) return known !== undefined && incarnation < known.incarnation;
    return version < known.version;
  }

  private see(it: Shown): void {
    if (this.isOld(it)) return;
    const { object, incarnation, version, motion, shown } = it;
    const key = keyOf(object);
    this.known.set(key, { incarnation, version, hidden: null });
    if (key === this.avatar && this.own.generation < motion.generation) {
      this.own = motion; // An event moved us.
      this.out.raise({ kind: "Corrected", motion });
    }
    const before = this.objects.get(key)?.motion;
    const moves = before !== undefined && isNewer(before, motion) ? before : motion;
    const seen = { object, motion: key === this.avatar ? this.own : moves, shown };
    this.objects.set(key, seen);
    this.out.raise({ kind: "Seen", key, seen });
  }

  private lose(key: Key, version: number): void {
    const known = this.known.get(key);
    if (known === undefined || version < known.version) return;
    // A zone that has not heard of the end must not show the object again.
    [known.version, known.hidden] = [version, this.now];
    this.hide(key);
  }

  private hide(key: Key): void {
    if (this.objects.delete(key)) this.out.raise({ kind: "Lost", key });
  }

  private onResult(number: number, outcome: Outcome): void {
    const place = this.unanswered.findIndex((it) => it.number === number);
    const [one] = place < 0 ? [] : this.unanswered.splice(place, 1);
    if (one === undefined) return;
    const first = this.unanswered[0]?.number ?? this.next;
    this.acked = Math.max(this.acked, first - 1);
    this.out.raise({ kind: "Answered", id: one.id, outcome, took: this.now - one.wanted });
    if (this.unanswered.length === 0 && this.homePeer !== null) {
      this.out.send(this.homePeer, "sure", { kind: "Ack", acked: this.acked });
    }
  }

  private onMoved(generation: number, sequence: number, time: number): void {
    this.echoes = Math.max(0, this.echoes - 1);
    if (generation !== this.own.generation || sequence !== this.own.sequence || !this.timing) return;
    this.timing = false;
    this.clock.learn(this.timed, this.now, time);
  }

  private onCorrected(motion: Motion): void {
    const sequence = Math.max(this.own.sequence, motion.sequence);
    this.own = { ...motion, sequence };
    this.showOwn();
    this.out.raise({ kind: "Corrected", motion });
  }
}
