// The lobby: who somebody is, and where to play (docs/net.md).

import type { HostEntry } from "./link.ts";

/** Proves who somebody is, for 30 days. */
export interface Pass {
  pass: string;
  player: string;
  name: string;
}

export interface SessionAnswer {
  session: string;
  player: string;
  name: string;
  world: WorldInfo;
  hosts: HostEntry[];
}

export interface WorldInfo {
  game: string;
  /** The hash of the game's types: a page made for another one cannot play. */
  schema: string;
  /** How far players see, mm. */
  range: number;
  /** The corners of the world, counterclockwise, mm. */
  region: [number, number][];
  /** Its zones, each with its corners, counterclockwise, mm. */
  zones: ZoneInfo[];
}

export interface ZoneInfo {
  zone: number;
  corners: [number, number][];
}

/** The lobby said no; `message` is for people. */
export class LobbyError extends Error {
  override name = "LobbyError";
  readonly status: number;
  /** How long to wait before asking again, ms; 0 if the lobby did not say. */
  readonly wait: number;

  constructor(status: number, message: string, wait = 0) {
    super(message);
    this.status = status;
    this.wait = wait;
  }

  /** Whether asking again later may help. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || 500 <= this.status;
  }
}

/** A request that takes longer than this has failed. */
const TIMEOUT = 8_000;
/** Nobody waits longer than this, ms: the lobby asks for some seconds, but what stands before it may say anything. */
const WAIT_MAX = 60_000;

const AWAY = "the world cannot be reached: try again in a moment";

/** `Retry-After`, in ms. */
function waitOf(headers: Headers): number {
  const seconds = Number(headers.get("retry-after"));
  return 0 < seconds ? Math.min(WAIT_MAX, seconds * 1000) : 0;
}

export class Lobby {
  private readonly base: string;

  /** `base` is where the lobby is, such as "" for where the page came from. */
  constructor(base = "") {
    this.base = base.replace(/\/$/, "");
  }

  guest(name: string): Promise<Pass> {
    return this.post("guest", { name });
  }

  createAccount(name: string, password: string): Promise<Pass> {
    return this.post("account", { name, password });
  }

  login(name: string, password: string): Promise<Pass> {
    return this.post("login", { name, password });
  }

  /** A new session, which ends an older one of the same player; or the same one again, with new tokens. */
  session(pass: string, session?: string): Promise<SessionAnswer> {
    return this.post("session", session === undefined ? { pass } : { pass, session });
  }

  private async post<T>(what: string, body: object): Promise<T> {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT),
    };
    let response: Response;
    try {
      response = await fetch(`${this.base}/api/${what}`, init);
    } catch {
      throw new LobbyError(0, AWAY);
    }
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok && answer !== null) return answer as T;
    // It was cut off, or took too long in the end: that says nothing about the pass or the session.
    if (response.ok) throw new LobbyError(0, AWAY);
    const { error } = (answer ?? {}) as { error?: unknown };
    const why = typeof error === "string" ? error : `the lobby answered ${response.status}`;
    throw new LobbyError(response.status, why, waitOf(response.headers));
  }
}
