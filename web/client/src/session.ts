// The connections of a session to its hosts: opened, kept, opened again.
//
// A token admits the session to a host once. So after any break the client asks the lobby for new tokens of the same
// session, and all hosts that need a connection at that moment share the answer.

import { type Control, PROTOCOL_VERSION, decodeControl, encodeControl } from "./control.ts";
import { decodeBody, encodeFrame } from "./frame.ts";
import {
  ENDINGS,
  type Ending,
  type HostConnection,
  type HostConnectionEvents,
  type HostEntry,
  type TransportKind,
} from "./host_connection.ts";
import { type Lobby, LobbyError, type SessionAnswer } from "./lobby.ts";
import type { Lane } from "./player/player.ts";
import { WebSocketConnection } from "./websocket.ts";
import { WebTransportConnection, hasWebTransport } from "./webtransport.ts";

/** The most connected hosts in a world of one zone while all are wanted: the primary's, the backup's, and one spare. */
const HOSTS_MAX = 3;
/** The same in a world of several zones. */
const HOSTS_MAX_MESHED = 16;
/** Without a `Welcome` in this time, ms, the client tries again by the other transport. */
const WELCOME_WITHIN = 3_000;
const PING_EVERY = 1_000;
/** A host without an answer for this long, ms, counts as gone, even if the connection seems open. */
const PONG_WITHIN = 4_000;
/** Interval of asking the lobby for tokens that are not needed, ms: it forgets after ten minutes that the player is in, and would make the player wait when a connection breaks. */
const TELL_LOBBY_EVERY = 240_000;
/** The pause before a new attempt, ms; it doubles each time. */
const PAUSE_MIN = 150;
const PAUSE_MAX = 4_000;

export interface SessionOptions {
  lobby: Lobby;
  pass: string;
  answer: SessionAnswer;
  /** By default WebTransport where there is one, else WebSocket. */
  transport?: TransportKind | undefined;
}

/** A newer session replaced this one; the pass is no longer valid; or the lobby ended only this session. */
export type SessionEnd = "superseded" | "logged-out" | "ended";

/** Events of a session. `link` counts connections, so that late events of an old one are recognised. */
export interface SessionEvents {
  up(host: number, zones: number[], link: number): void;
  down(host: number, zones: number[], link: number): void;
  received(host: number, zone: number, link: number, message: Uint8Array): void;
  /** The session ended for good. */
  over(why: SessionEnd, reason: string): void;
}

interface Connection {
  entry: HostEntry;
  transport: HostConnection;
  number: number;
  zones: number[] | null;
  deadline: ReturnType<typeof setTimeout>;
  pinged: Map<bigint, number>;
  heard: number;
  rtt: number | null;
  /** True once the session has hung up, because the host is not wanted any more. */
  isHungUp: boolean;
}

export interface HostStatus {
  host: number;
  transport: TransportKind;
  isUp: boolean;
  rtt: number | null;
}

export class Session {
  private readonly options: SessionOptions;
  private readonly events: SessionEvents;
  private readonly connections = new Map<number, Connection>();
  /** The hosts that the player wants to reach; null: all. */
  private wanted: ReadonlySet<number> | null = null;
  private failures = 0;
  private links = 0;
  private pings = 0n;
  private asking = false;
  private retry: ReturnType<typeof setTimeout> | null = null;
  /** The lobby must not be asked earlier than this time, ms (`Retry-After`). */
  private notBefore = 0;
  private readonly pinging: ReturnType<typeof setInterval>;
  private readonly telling: ReturnType<typeof setInterval>;
  private ended = false;
  /** Bytes of connections that have ended. */
  private past = { in: 0, out: 0 };
  /** The transport that worked last, or that is tried next. */
  private preferred: TransportKind;

  constructor(options: SessionOptions, events: SessionEvents) {
    this.options = options;
    this.events = events;
    this.preferred = options.transport ?? (hasWebTransport() ? "webtransport" : "websocket");
    this.pinging = setInterval(() => this.ping(), PING_EVERY);
    // Spread: all clients that came in together would ask together.
    this.telling = setInterval(() => this.refresh(), TELL_LOBBY_EVERY * (1 - Math.random() / 4));
    this.connectAll(options.answer.hosts);
  }

  get isConnected(): boolean {
    return [...this.connections.values()].some((it) => it.zones !== null);
  }

  status(): HostStatus[] {
    return [...this.connections.values()].map(({ entry, transport, zones, rtt }) => {
      return { host: entry.host, transport: transport.kind, isUp: zones !== null, rtt };
    });
  }

  /** Bytes received and sent since the beginning. */
  traffic(): { in: number; out: number } {
    const sum = { ...this.past };
    for (const { transport } of this.connections.values()) {
      sum.in += transport.bytesIn;
      sum.out += transport.bytesOut;
    }
    return sum;
  }

  send(host: number, zone: number, lane: Lane, message: Uint8Array): void {
    const connection = this.connections.get(host);
    if (connection?.zones?.includes(zone)) connection.transport.send(lane, encodeFrame(zone, message));
  }

  /** Asks the lobby again for hosts: the primary may be on a host that is not connected. */
  refresh(): void {
    if (this.retry === null) void this.reconnect();
  }

  /** Connects to these hosts only (null: to all): hangs up on others, and asks the lobby for tokens for those that are missing. */
  want(hosts: ReadonlySet<number> | null): void {
    this.wanted = hosts;
    for (const connection of [...this.connections.values()]) {
      if (hosts === null || hosts.has(connection.entry.host)) continue;
      connection.isHungUp = true;
      connection.transport.close();
    }
    const isMissing = hosts === null || [...hosts].some((host) => !this.connections.has(host));
    if (isMissing && !this.ended) this.refresh();
  }

  close(): void {
    this.ended = true;
    clearInterval(this.pinging);
    clearInterval(this.telling);
    if (this.retry !== null) clearTimeout(this.retry);
    [...this.connections.values()].forEach(({ transport }) => transport.close());
  }

  // Connecting.

  private connectAll(hosts: HostEntry[]): void {
    const isMeshed = 1 < this.options.answer.world.zones.length;
    const { wanted } = this;
    const chosen = wanted === null ? hosts.slice(0, isMeshed ? HOSTS_MAX_MESHED : HOSTS_MAX) : hosts.filter((it) => wanted.has(it.host));
    chosen.forEach((entry) => {
      if (!this.connections.has(entry.host)) this.connect(entry);
    });
  }

  private connect(entry: HostEntry): void {
    const number = ++this.links;
    const current = (): Connection | undefined => {
      const found = this.connections.get(entry.host);
      return found?.number === number ? found : undefined;
    };
    const events: HostConnectionEvents = {
      opened: () => this.hello(entry),
      received: (body) => {
        const connection = current();
        if (connection !== undefined) this.onBody(connection, body);
      },
      ended: (ending) => this.onEnded(current(), ending),
    };
    let transport: HostConnection;
    try {
      transport = this.open(entry, events);
    } catch (error) {
      // A malformed address, or one that this page may not reach: the other transport may work.
      this.onFailed(String(error));
      return;
    }
    const deadline = setTimeout(() => transport.close(), WELCOME_WITHIN);
    const state = { zones: null, pinged: new Map<bigint, number>(), heard: Date.now(), rtt: null, isHungUp: false };
    const connection = { entry, transport, number, deadline, ...state };
    this.connections.set(entry.host, connection);
  }

  private open(entry: HostEntry, events: HostConnectionEvents): HostConnection {
    if (this.preferred === "webtransport") return new WebTransportConnection(entry, events);
    return new WebSocketConnection(entry.websocket, events);
  }

  private hello({ host, token }: HostEntry): void {
    this.sendControl(host, { kind: "Hello", version: PROTOCOL_VERSION, token });
  }

  private sendControl(host: number, control: Control): void {
    this.connections.get(host)?.transport.send("sure", encodeFrame(0, encodeControl(control)));
  }

  // Receiving.

  private onBody(connection: Connection, body: Uint8Array): void {
    try {
      const { zone, message } = decodeBody(body);
      connection.heard = Date.now();
      if (zone === 0) return this.onControl(connection, decodeControl(message));
      if (connection.zones !== null) this.events.received(connection.entry.host, zone, connection.number, message);
    } catch (error) {
      console.warn("a host sent what is no message", error);
      connection.transport.close();
    }
  }

  private onControl(connection: Connection, control: Control): void {
    switch (control.kind) {
      case "Welcome":
        return this.onWelcome(connection, control.zones);
      case "Ping":
        return this.sendControl(connection.entry.host, { kind: "Pong", number: control.number });
      case "Pong":
        return onPong(connection, control.number);
      case "Hello":
      case "Lagging":
        return;
    }
  }

  private onWelcome(connection: Connection, zones: number[]): void {
    clearTimeout(connection.deadline);
    this.failures = 0;
    connection.zones = zones;
    this.events.up(connection.entry.host, zones, connection.number);
    this.pingOne(connection);
  }

  private onEnded(connection: Connection | undefined, { code, reason }: Ending): void {
    if (connection === undefined) return this.onFailed(reason);
    const { entry, transport, zones, number, deadline, isHungUp } = connection;
    clearTimeout(deadline);
    this.connections.delete(entry.host);
    this.past = { in: this.past.in + transport.bytesIn, out: this.past.out + transport.bytesOut };
    if (zones !== null) this.events.down(entry.host, zones, number);
    if (code === ENDINGS.superseded) return this.end("superseded", reason);
    // The player may have wanted the host again meanwhile.
    if (isHungUp && !(this.wanted?.has(entry.host) ?? true)) return;
    if (zones !== null) this.hurry();
    // No `Welcome` and no reason: a firewall may block this transport.
    if (zones === null && code === 0) this.switchTransport();
    this.onFailed(reason);
  }

  private switchTransport(): void {
    const wasUp = [...this.connections.values()].some((it) => it.zones !== null);
    if (this.options.transport !== undefined || wasUp || !hasWebTransport()) return;
    this.preferred = this.preferred === "webtransport" ? "websocket" : "webtransport";
  }

  // New attempts.

  private onFailed(_reason: string): void {
    if (this.ended || this.retry !== null) return;
    const pause = Math.min(PAUSE_MAX, PAUSE_MIN * 2 ** this.failures++) * (0.5 + Math.random());
    // Spread: all clients that the lobby refused at once got the same time.
    const demanded = (this.notBefore - Date.now()) * (1 + Math.random() / 2);
    this.retry = setTimeout(() => {
      this.retry = null;
      void this.reconnect();
    }, Math.max(pause, demanded));
  }

  /** A working connection broke: ends a pause that was meant for another host, but not one that the lobby demanded. */
  private hurry(): void {
    this.failures = 0;
    if (this.retry !== null) clearTimeout(this.retry);
    this.retry = null;
  }

  private async reconnect(): Promise<void> {
    if (this.asking || this.ended) return;
    this.asking = true;
    try {
      const { lobby, pass, answer } = this.options;
      const { hosts } = await lobby.session(pass, answer.session);
      this.asking = false;
      if (!this.ended) this.connectAll(hosts);
    } catch (error) {
      this.asking = false;
      this.onRefused(error);
    }
  }

  private onRefused(error: unknown): void {
    if (error instanceof LobbyError) this.notBefore = Date.now() + error.wait;
    if (!(error instanceof LobbyError) || error.isPassing) return this.onFailed(String(error));
    const ends: Record<number, SessionEnd> = { 401: "logged-out", 409: "superseded" };
    this.end(ends[error.status] ?? "ended", error.message);
  }

  private end(why: SessionEnd, reason: string): void {
    if (this.ended) return;
    this.close();
    this.events.over(why, reason);
  }

  // Pings.

  private ping(): void {
    for (const connection of [...this.connections.values()]) {
      if (connection.zones === null) continue;
      if (PONG_WITHIN < Date.now() - connection.heard) connection.transport.close();
      else this.pingOne(connection);
    }
  }

  private pingOne(connection: Connection): void {
    const number = ++this.pings;
    if (8 < connection.pinged.size) connection.pinged.clear();
    connection.pinged.set(number, performance.now());
    this.sendControl(connection.entry.host, { kind: "Ping", number });
  }
}

function onPong(connection: Connection, number: bigint): void {
  const sent = connection.pinged.get(number);
  if (sent === undefined) return;
  connection.pinged.delete(number);
  connection.rtt = performance.now() - sent;
}
