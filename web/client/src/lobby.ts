// Requests to the lobby: log-in, sessions, hosts (docs/net.md).

import type { HostEntry } from "./host_connection.ts";

/** Proves to the lobby who a player is, for 30 days. */
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
  /** The schema hash of the game's types: a page with another one cannot play. */
  schema: string;
  /** The game's range: the farthest that players see, mm. */
  range: number;
  /** The corners of the world, counterclockwise, mm. */
  region: [number, number][];
  /** The zones, each with the corners of its region, counterclockwise, mm. */
  zones: ZoneInfo[];
}

export interface ZoneInfo {
  zone: number;
  corners: [number, number][];
}

/** The lobby refused a request; `message` is text for people. */
export class LobbyError extends Error {
  override name = "LobbyError";
  readonly status: number;
  /** Pause that the lobby demands before the next request, ms; 0 if none. */
  readonly wait: number;

  constructor(status: number, message: string, wait = 0) {
    super(message);
    this.status = status;
    this.wait = wait;
  }

  /** True if the same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || 500 <= this.status;
  }
}

/** A request that takes longer than this has failed. */
const TIMEOUT = 8_000;
/** The longest demanded pause that is obeyed, ms: the lobby asks for some seconds, but a proxy may send any number. */
const WAIT_MAX = 60_000;

const AWAY = "the world cannot be reached: try again in a moment";

/** The header `Retry-After`, in ms. */
function waitOf(headers: Headers): number {
  const seconds = Number(headers.get("retry-after"));
  return 0 < seconds ? Math.min(WAIT_MAX, seconds * 1000) : 0;
}

export class Lobby {
  private readonly base: string;

  /** `base` is the URL of the lobby; "" is the server of the page. */
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

  /** Starts a new session, which ends an older one of the same player; or gets new tokens for a given session. */
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
    // The answer was cut off or took too long: that says nothing about the pass or the session.
    if (response.ok) throw new LobbyError(0, AWAY);
    const { error } = (answer ?? {}) as { error?: unknown };
    const why = typeof error === "string" ? error : `the lobby answered ${response.status}`;
    throw new LobbyError(response.status, why, waitOf(response.headers));
  }
}
