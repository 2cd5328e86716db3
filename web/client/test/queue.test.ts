// The wait in the lobby's queue.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lobby, LobbyError, QueuedError, type QueuePlace } from "../src/lobby.ts";
import { Session } from "../src/session.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const SESSION = { session: "7", player: "1", name: "Ada", world: { game: "", schema: "", range: 1, region: [], zones: [] }, hosts: [] };

type Answer = [status: number, body: object, after?: string];

const queued = (place: number, waiting: number, again_after: unknown): Answer => [202, { queued: { place, waiting, again_after } }];

/** A lobby with these answers; then it gives a session. `asked` are the times of the requests, s. */
function lobbyWith(answers: Answer[]) {
  const asked: number[] = [];
  const began = Date.now();
  vi.stubGlobal("fetch", () => {
    asked.push((Date.now() - began) / 1000);
    const [status, body, after]: Answer = answers.shift() ?? [200, SESSION];
    if (status === 0) return Promise.reject(new Error("gone"));
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: after === undefined ? {} : { "retry-after": after } }));
  });
  return { lobby: new Lobby(), asked };
}

async function waitAt(answers: Answer[]) {
  const { lobby, asked } = lobbyWith(answers);
  const places: QueuePlace[] = [];
  const outcome = lobby.waitForSession("pass", { onWaiting: (place) => places.push(place) }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(300_000);
  return { outcome: await outcome, places, asked };
}

test("a place in the queue is told, and the client asks again when it is told to", async () => {
  const { outcome, places, asked } = await waitAt([queued(12, 40, 15), queued(3, 35, 2)]);
  expect(outcome).toEqual(SESSION);
  expect(places).toEqual([{ place: 12, waiting: 40 }, { place: 3, waiting: 35 }]);
  const pauses = asked.slice(1).map((at, index) => at - asked[index]!);
  [15, 2].forEach((told, index) => {
    expect(pauses[index]).toBeGreaterThanOrEqual(told);
    // Much later the lobby counts it as absent.
    expect(pauses[index]).toBeLessThan(told * 1.1 + 0.1);
  });
});

test("a client with a place outlasts a lobby that is away", async () => {
  const away: Answer = [0, {}];
  const { outcome, asked } = await waitAt([queued(2, 2, 2), away, [503, { error: "no" }], away, [429, { error: "slowly" }, "20"]]);
  expect(outcome).toEqual(SESSION);
  expect(asked[5]! - asked[4]!).toBeGreaterThanOrEqual(20);
});

test("a first request that fails is an error, and so is a refusal that never changes", async () => {
  const full = await waitAt([[503, { error: "the queue is full" }]]);
  expect([full.outcome, full.asked.length]).toEqual([expect.objectContaining({ status: 503, message: "the queue is full" }), 1]);
  const refused = await waitAt([queued(1, 1, 2), [401, { error: "no" }]]);
  expect(refused.outcome).toBeInstanceOf(LobbyError);
  expect(refused.asked.length).toBe(2);
});

test("a wait without bounds is bounded", async () => {
  for (const [told, least, most] of [[0, 60, 67], [0.001, 0.4, 1], [1e9, 60, 67], ["soon", 60, 67], [-5, 0.4, 1]] as const) {
    const { asked } = await waitAt([queued(1, 1, told)]);
    expect(asked[1]).toBeGreaterThanOrEqual(least);
    expect(asked[1]).toBeLessThan(most);
  }
});

test("a player who gives up does not ask again", async () => {
  const { lobby, asked } = lobbyWith([queued(1, 1, 2), queued(1, 1, 2)]);
  const wait = new AbortController();
  const outcome = lobby.waitForSession("pass", { signal: wait.signal }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1_000);
  wait.abort();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([(await outcome as Error).name, asked.length]).toEqual(["AbortError", 1]);
});

test("a session that has to wait for tokens goes on, and asks when it is told to", async () => {
  const lobby = new Lobby();
  const asked = vi.spyOn(lobby, "session").mockRejectedValue(new QueuedError({ place: 1, waiting: 1 }, 20_000));
  const over: string[] = [];
  const events = { up() {}, down() {}, received() {}, over: (why: string) => void over.push(why) };
  const session = new Session({ lobby, pass: "pass", answer: SESSION }, events);
  session.refresh();
  await vi.advanceTimersByTimeAsync(19_000);
  expect([asked.mock.calls.length, over]).toEqual([1, []]);
  await vi.advanceTimersByTimeAsync(12_000);
  expect([asked.mock.calls.length, over]).toEqual([2, []]);
  session.close();
});

test("a session tells the lobby now and then that the player is still in", async () => {
  const lobby = new Lobby();
  const asked = vi.spyOn(lobby, "session").mockResolvedValue(SESSION);
  const events = { up() {}, down() {}, received() {}, over() {} };
  const session = new Session({ lobby, pass: "pass", answer: SESSION }, events);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked.mock.calls.length).toBeGreaterThanOrEqual(2);
  expect(asked.mock.calls.length).toBeLessThanOrEqual(4);
  session.close();
  const calls = asked.mock.calls.length;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked.mock.calls.length).toBe(calls);
});
