// The times at which a session asks the lobby again, and the answers that end it.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Writer } from "../src/bytes.ts";
import { encodeControl } from "../src/control.ts";
import type { HostConnectionEvents } from "../src/host_connection.ts";
import { Lobby, LobbyError, type SessionAnswer } from "../src/lobby.ts";
import { Session } from "../src/session.ts";
import * as websocket from "../src/websocket.ts";

vi.mock("../src/websocket.ts", { spy: true });

const ANSWER: SessionAnswer = {
  session: "7",
  player: "1",
  name: "Ada",
  world: { game: "kosmos", schema: "", range: 1, region: [], zones: [] },
  hosts: [],
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A session without hosts, whose lobby always answers this. */
function sessionAt(status: number, wait = 0) {
  const lobby = new Lobby();
  const asked = vi.spyOn(lobby, "session").mockRejectedValue(new LobbyError(status, "no", wait));
  const over: string[] = [];
  const events = { up() {}, down() {}, received() {}, over: (why: string) => void over.push(why) };
  return { session: new Session({ lobby, pass: "pass", answer: ANSWER }, events), asked, over };
}

test("a lobby that demanded a pause is asked again only after it, however often the client refreshes", async () => {
  const { session, asked } = sessionAt(429, 20_000);
  session.refresh();
  await vi.advanceTimersByTimeAsync(0);
  for (let second = 0; second < 19; second++) {
    session.refresh();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(asked).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(asked).toHaveBeenCalledTimes(2);
  session.close();
});

test("a refusal that never changes ends the session", async () => {
  for (const [status, why] of [[400, "ended"], [401, "logged-out"]] as const) {
    const { session, asked, over } = sessionAt(status);
    session.refresh();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([asked.mock.calls.length, over]).toEqual([1, [why]]);
  }
});

test("the header Retry-After sets the pause", async () => {
  const answer = (after: string) => new Response('{"error":"slowly"}', { status: 429, headers: { "retry-after": after } });
  for (const [after, wait] of [["3", 3_000], ["86400", 60_000], ["soon", 0]] as const) {
    vi.stubGlobal("fetch", () => Promise.resolve(answer(after)));
    const error = await new Lobby().session("pass").catch((error: unknown) => error);
    expect(error).toMatchObject({ status: 429, message: "slowly", wait });
  }
});

test("an answer that is cut off says nothing about the session", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response('{"session":', { status: 200 })));
  const error = await new Lobby().session("pass").catch((error: unknown) => error);
  expect(error).toMatchObject({ status: 0, isPassing: true });
});

/** A transport that connects at once, and whose host welcomes the player with one zone. */
class FakeTransport {
  readonly kind = "websocket";
  readonly bytesIn = 0;
  readonly bytesOut = 0;
  static readonly open = new Map<string, FakeTransport>();
  private readonly url: string;
  private readonly events: HostConnectionEvents;

  constructor(url: string, events: HostConnectionEvents) {
    [this.url, this.events] = [url, events];
    FakeTransport.open.set(url, this);
    setTimeout(() => events.received(new Writer().uint(0).raw(encodeControl({ kind: "Welcome", host: 1, zones: [1] })).done()));
  }

  send(): void {}

  close(): void {
    if (FakeTransport.open.delete(this.url)) setTimeout(() => this.events.ended({ code: 0, reason: "" }));
  }
}

test("a session hangs up on hosts that are not wanted, and asks for tokens when one is wanted that it has no connection to", async () => {
  vi.spyOn(websocket, "WebSocketConnection").mockImplementation(function (url: string, events: HostConnectionEvents) {
    return new FakeTransport(url, events) as never;
  });
  const hosts = [1, 2, 3].map((host) => ({ host, zones: [1], websocket: `ws://${host}`, address: "", certificate: "", token: "" }));
  const answer = { ...ANSWER, hosts };
  const lobby = new Lobby();
  const asked = vi.spyOn(lobby, "session").mockResolvedValue(answer);
  const events = { up() {}, down() {}, received() {}, over() {} };
  const session = new Session({ lobby, pass: "pass", answer, transport: "websocket" }, events);
  const open = async () => {
    await vi.advanceTimersByTimeAsync(500);
    return [...FakeTransport.open.keys()].sort();
  };
  expect(await open()).toEqual(["ws://1", "ws://2", "ws://3"]);
  session.want(new Set([1, 2]));
  expect([await open(), asked.mock.calls.length]).toEqual([["ws://1", "ws://2"], 0]);
  session.want(new Set([2, 3]));
  expect([await open(), asked.mock.calls.length]).toEqual([["ws://2", "ws://3"], 1]);
  session.want(null);
  expect([await open(), asked.mock.calls.length]).toEqual([["ws://1", "ws://2", "ws://3"], 2]);
  session.close();
});
