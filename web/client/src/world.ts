// A world that the player has joined: the player's state machine, its connections, and its view, for any game.

import { Events } from "./events.ts";
import type { TransportKind } from "./host_connection.ts";
import { type Lobby, type SessionAnswer, type WaitOptions, type WorldInfo } from "./lobby.ts";
import type { Motion, Vector } from "./motion.ts";
import { type Key, type ObjectId } from "./object.ts";
import { type Peer, hostOf, peerOf } from "./player/links.ts";
import { type PlayerEvent, type Lane, Player } from "./player/player.ts";
import { decodePoses } from "./poses.ts";
import { Predictions, type Pending } from "./predict.ts";
import { type Closed, type FromPlayer, type LoadLevel, type Outcome, decodeToPlayer, encodeFromPlayer } from "./protocol.ts";
import { Session, type SessionEnd, type SessionEvents } from "./session.ts";
import { type ViewObject, View } from "./view.ts";
import { DecodeError } from "./bytes.ts";

/** The exports of a module of `ecumene schema --ts` that a client needs. */
export interface GameModule<Shown, Action, Notice, Refusal> {
  NAME: string;
  SCHEMA: string;
  decodeShown(bytes: Uint8Array): Shown;
  encodeAction(action: Action): Uint8Array;
  decodeNotice(bytes: Uint8Array): Notice;
  decodeRefusal(bytes: Uint8Array): Refusal;
}

export interface WorldOptions<Shown> extends WaitOptions {
  lobby: Lobby;
  pass: string;
  transport?: TransportKind | undefined;
  /** See `ViewOptions`. */
  isSteady?: (shown: Shown) => boolean;
}

/** The result of an action. */
export type ActionResult<Refusal> =
  | { kind: "done" }
  | { kind: "refused"; refusal: Refusal }
  /** The game has a fault, the zone was busy, or too many actions were unanswered; nothing happened. */
  | { kind: "failed"; why: string };

export interface WorldEvents<Action, Notice, Refusal> {
  /** A zone has let the player in: at first, and after every change of zone or host. */
  entered: { avatar: ObjectId };
  /** The zone is silent: the client looks for the new primary. */
  searching: null;
  notice: { notice: Notice };
  /** The result of an action, `took` ms after `act`, including any failover in between. */
  answered: { id: number; action: Action; answer: ActionResult<Refusal>; took: number };
  /** An event moved the avatar, or the zone corrected a move. */
  corrected: { motion: Motion };
  closed: { why: Closed };
  /** The zone is crowded, so that everything takes longer, or not any more. */
  load: { load: LoadLevel };
  over: { why: SessionEnd | "left"; reason: string };
}

export type WorldState = "joining" | "playing" | "searching" | "over";

/** The first byte of a message from a zone (crates/node/src/message.rs). */
const ZONE = 0;
const POSES = 1;

/** Interval of the check for a search that finds no zone, ms. */
const SEARCH_CHECK_EVERY = 1_500;

export interface Status {
  state: WorldState;
  transport: TransportKind | null;
  host: number | null;
  /** The zone that decides for the avatar. */
  zone: number | null;
  epoch: number;
  /** How much the zone has to do. */
  load: LoadLevel;
  /** A round trip to the serving host, ms. */
  ping: number | null;
  bytesIn: number;
  bytesOut: number;
  hosts: { host: number; isUp: boolean }[];
}

export class World<Shown, Action, Notice, Refusal, Overlay = unknown> extends Events<WorldEvents<Action, Notice, Refusal>> {
  readonly info: WorldInfo;
  readonly name: string;
  private readonly game: GameModule<Shown, Action, Notice, Refusal>;
  private readonly player: Player;
  private readonly session: Session;
  private readonly view: View<Shown>;
  private readonly predictions = new Predictions<Action, Overlay>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly searchCheck: ReturnType<typeof setInterval>;
  private wasSearching = false;
  /** The load level of the player's zone. */
  private load: LoadLevel = "Calm";
  private current: WorldState = "joining";

  /** Asks the lobby for a session, in its queue if the world is full, and connects. The event `entered` tells that the player is in the world. */
  static async join<S, A, N, R, O = unknown>(
    game: GameModule<S, A, N, R>,
    options: WorldOptions<S>,
  ): Promise<World<S, A, N, R, O>> {
    const answer = await options.lobby.waitForSession(options.pass, options);
    if (answer.world.schema !== game.SCHEMA) throw new Error("this page is older or newer than the world: load it again");
    return new World<S, A, N, R, O>(game, options, answer);
  }

  private constructor(game: GameModule<Shown, Action, Notice, Refusal>, options: WorldOptions<Shown>, answer: SessionAnswer) {
    super();
    this.game = game;
    this.info = answer.world;
    this.name = answer.name;
    this.view = new View({ isSteady: options.isSteady });
    const config = { player: BigInt(answer.player), session: BigInt(answer.session), name: answer.name, chance: Math.random };
    this.player = new Player(config, {
      send: (peer, lane, message) => this.send(peer, lane, message),
      raise: (event) => this.onPlayerEvent(event),
    });
    const { lobby, pass, transport } = options;
    this.session = new Session({ lobby, pass, answer, transport }, this.sessionEvents());
    this.searchCheck = setInterval(() => this.checkSearch(), SEARCH_CHECK_EVERY);
  }

  // Reading.

  get state(): WorldState {
    return this.current;
  }

  /** World time, ms. */
  get now(): number {
    return this.player.clock.now(performance.now());
  }

  /** All objects in the view, by key. */
  get objects(): ReadonlyMap<Key, ViewObject<Shown>> {
    return this.view.objects;
  }

  /** The key of the player's avatar. */
  get me(): Key | null {
    return this.player.me;
  }

  /** The player's avatar, if it is in the view. */
  get own(): ViewObject<Shown> | undefined {
    return this.player.me === null ? undefined : this.view.objects.get(this.player.me);
  }

  /** The motion of the player's avatar. */
  get motion(): Motion {
    return this.player.motion;
  }

  /** Unanswered actions, with the overlay that the game shows meanwhile. */
  get pending(): ReadonlyMap<number, Pending<Action, Overlay>> {
    return this.predictions.pending;
  }

  /** Moves all objects in the view to where they are drawn: the own avatar and objects that keep their course to the present, all others to 100 ms ago. Call it before each drawing. */
  update(): void {
    this.view.update(this.now, this.player.me, this.player.motion);
  }

  /** How much the player's zone has to do. */
  get loadLevel(): LoadLevel {
    return this.load;
  }

  status(): Status {
    const hosts = this.session.status();
    const home = this.player.homePeer === null ? null : hostOf(this.player.homePeer);
    const serving = hosts.find((it) => it.host === home);
    const traffic = this.session.traffic();
    return {
      state: this.current,
      transport: serving?.transport ?? null,
      host: serving?.host ?? null,
      zone: this.player.zone === 0 ? null : this.player.zone,
      epoch: this.player.epoch,
      load: this.load,
      ping: serving?.rtt ?? null,
      bytesIn: traffic.in,
      bytesOut: traffic.out,
      hosts: hosts.map(({ host, isUp }) => ({ host, isUp })),
    };
  }

  // Acting.

  /** Sends an action. `overlay` stays in `pending` until the result arrives. */
  async act(action: Action, overlay: Overlay | null = null): Promise<ActionResult<Refusal>> {
    const asked = performance.now();
    const id = this.player.act(asked, this.game.encodeAction(action));
    this.schedule();
    if (id === null) return { kind: "failed", why: "too much at once: wait for an answer" };
    const outcome = await this.predictions.add({ id, action, overlay, asked });
    return this.resultOf(outcome);
  }

  /** Changes the avatar's velocity (mm/s) and heading (65536ths of a turn). */
  steer(velocity: Vector, heading: number): void {
    this.player.steer(performance.now(), velocity, heading);
    this.schedule();
  }

  /** Leaves the world for good. */
  leave(): void {
    this.player.leave(performance.now());
    this.end("left", "");
  }

  /** Disconnects without a `Leave`: the avatar stays until the zone removes it. */
  disconnect(): void {
    this.end("left", "");
  }

  private end(why: SessionEnd | "left", reason: string): void {
    if (this.current === "over") return;
    this.current = "over";
    if (this.timer !== null) clearTimeout(this.timer);
    clearInterval(this.searchCheck);
    this.session.close();
    this.emit("over", { why, reason });
  }

  /** A search that lasts two checks may need other hosts: asks the lobby again where the primaries are. */
  private checkSearch(): void {
    if (this.wasSearching && this.player.isSearching) this.session.refresh();
    this.wasSearching = this.player.isSearching;
  }

  // Between the player's machine and its connections.

  private sessionEvents(): SessionEvents {
    const each = (host: number, zones: number[], call: (peer: Peer) => void): void => {
      zones.forEach((zone) => call(peerOf({ host, zone })));
      this.schedule();
    };
    return {
      up: (host, zones, link) => each(host, zones, (peer) => this.player.linkUp(performance.now(), peer, link)),
      down: (host, zones, link) => each(host, zones, (peer) => this.player.linkDown(performance.now(), peer, link)),
      received: (host, zone, link, message) => this.receive(peerOf({ host, zone }), link, message),
      over: (why, reason) => this.end(why, reason),
    };
  }

  private receive(from: Peer, link: number, message: Uint8Array): void {
    const now = performance.now();
    const rest = message.subarray(1);
    if (message[0] === ZONE) {
      const { zone, epoch, message: toPlayer } = decodeToPlayer(rest);
      this.player.receive(now, from, link, zone, epoch, toPlayer);
      this.schedule();
    } else if (message[0] === POSES) {
      decodePoses(rest).forEach(({ object, motion }) => this.player.hear(now, object, motion));
    } else {
      throw new DecodeError("a message of an unknown kind");
    }
  }

  private send(peer: Peer, lane: Lane, message: FromPlayer): void {
    const [host, zone] = peer.split(":").map(Number);
    const bytes = encodeFromPlayer(message);
    const tagged = new Uint8Array(1 + bytes.length);
    tagged[0] = ZONE;
    tagged.set(bytes, 1);
    this.session.send(host ?? 0, zone ?? 0, lane, tagged);
  }

  private schedule(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const deadline = this.player.deadline();
    if (deadline === null || this.current === "over") return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.player.wake(performance.now());
      this.schedule();
    }, Math.max(0, deadline - performance.now()));
  }

  // Events of the player's machine.

  private onPlayerEvent(event: PlayerEvent): void {
    switch (event.kind) {
      case "Entered":
        this.current = "playing";
        return this.emit("entered", { avatar: event.avatar });
      case "Searching":
        this.current = "searching";
        return this.emit("searching", null);
      case "Answered":
        return this.onAnswered(event);
      case "Notice":
        return this.decoded(event.notice, this.game.decodeNotice, (notice) => this.emit("notice", { notice }));
      case "Sight":
        return this.view.forgetAll();
      case "Seen": {
        const { key, seen } = event;
        return this.decoded(seen.shown, this.game.decodeShown, (shown) =>
          this.view.see(key, seen.object, shown, seen.motion, key === this.player.me),
        );
      }
      case "Heard":
        return this.view.hear(event.key, event.motion);
      case "Lost":
        return this.view.lose(event.key);
      case "Corrected":
        return this.emit("corrected", { motion: event.motion });
      case "Load":
        this.load = event.load;
        return this.emit("load", { load: event.load });
      case "Contacts":
        return this.session.want(event.replicas && new Set(event.replicas.map(hostOf)));
      case "Closed":
        this.emit("closed", { why: event.why });
        if (event.why === "Superseded") this.end("superseded", "you play elsewhere");
    }
  }

  private onAnswered({ id, outcome, took }: Extract<PlayerEvent, { kind: "Answered" }>): void {
    const pending = this.predictions.answered(id, outcome);
    if (pending !== undefined) this.emit("answered", { id, action: pending.action, answer: this.resultOf(outcome), took });
  }

  private resultOf(outcome: Outcome): ActionResult<Refusal> {
    switch (outcome.kind) {
      case "Done":
        return { kind: "done" };
      case "Fault":
        return { kind: "failed", why: outcome.why };
      case "Busy":
        return { kind: "failed", why: "too much is going on here: try again" };
      case "Refused":
        return { kind: "refused", refusal: this.game.decodeRefusal(outcome.refusal) };
    }
  }

  /** Skips a game's bytes that do not decode, so that the rest of the world goes on. */
  private decoded<T>(bytes: Uint8Array, decode: (bytes: Uint8Array) => T, then: (value: T) => void): void {
    let value: T;
    try {
      value = decode(bytes);
    } catch (error) {
      console.warn("the world sent what this game does not know", error);
      return;
    }
    then(value);
  }
}
