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
    return this.status === 0 || this.status === 202 || this.status === 429 || 500 <= this.status;
  }
}

/** A place in the lobby's queue. */
export interface QueuePlace {
  /** From 1. */
  place: number;
  /** Number of players who wait. */
  waiting: number;
}

/** The world takes no more players at the moment; `wait` says when to ask again. */
export class QueuedError extends LobbyError {
  override name = "QueuedError";
  readonly place: QueuePlace;

  constructor({ place, waiting }: QueuePlace, wait: number) {
    super(202, "the world is full", wait);
    this.place = { place, waiting };
  }
}

/** A request that takes longer than this has failed. */
const TIMEOUT = 8_000;
/** The longest demanded pause that is obeyed, ms: the lobby asks for some seconds, but a proxy may send any number. */
const WAIT_MAX = 60_000;

const AWAY = "the world cannot be reached: try again in a moment";

/** Shortest pause of a player who waits, ms, and the one after a first failure; the latter doubles each time. */
const QUEUE_PAUSE_MIN = 500;
const FAILED_PAUSE_MIN = 1_000;
const FAILED_PAUSE_MAX = 15_000;

/** The place in an answer of the lobby, and the pause, ms; null if the answer is a session. */
function queuedIn(answer: unknown): QueuedError | null {
  const { queued } = (answer ?? {}) as { queued?: { place: number; waiting: number; again_after: number } };
  if (queued === undefined) return null;
  const wait = Math.min(WAIT_MAX, Math.max(QUEUE_PAUSE_MIN, queued.again_after * 1000 || WAIT_MAX));
  return new QueuedError(queued, wait);
}

/** Waits so many ms; ends with the signal's reason if it aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

export interface WaitOptions {
  /** Told the place in the queue whenever the lobby tells it. */
  onWaiting?: ((place: QueuePlace) => void) | undefined;
  /** Ends the wait; the lobby soon forgets the place. */
  signal?: AbortSignal | undefined;
}

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

  /** Starts a new session, which ends an older one of the same player; or gets new tokens for a given session. Throws a `QueuedError` if the player has to wait. */
  session(pass: string, session?: string): Promise<SessionAnswer> {
    return this.post("session", session === undefined ? { pass } : { pass, session });
  }

  /** Starts a new session as soon as the world takes the player. A first request that fails is thrown; with a place in the queue, failed requests are repeated. */
  async waitForSession(pass: string, { onWaiting, signal }: WaitOptions = {}): Promise<SessionAnswer> {
    let [hasPlace, failures] = [false, 0];
    for (;;) {
      try {
        return await this.session(pass);
      } catch (error) {
        if (!(error instanceof LobbyError) || !error.isPassing) throw error;
        if (error instanceof QueuedError) {
          [hasPlace, failures] = [true, 0];
          onWaiting?.(error.place);
          // A tenth later at most: the lobby counts a client that comes much later as absent.
          await pause(error.wait * (1 + Math.random() / 10), signal);
        } else {
          if (!hasPlace) throw error;
          const own = Math.min(FAILED_PAUSE_MAX, FAILED_PAUSE_MIN * 2 ** failures++) * (0.5 + Math.random());
          await pause(Math.max(own, error.wait * (1 + Math.random() / 2)), signal);
        }
      }
    }
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
    const queued = response.ok ? queuedIn(answer) : null;
    if (queued !== null) throw queued;
    if (response.ok && answer !== null) return answer as T;
    // The answer was cut off or took too long: that says nothing about the pass or the session.
    if (response.ok) throw new LobbyError(0, AWAY);
    const { error } = (answer ?? {}) as { error?: unknown };
    const why = typeof error === "string" ? error : `the lobby answered ${response.status}`;
    throw new LobbyError(response.status, why, waitOf(response.headers));
  }
}
