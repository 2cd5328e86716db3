// The times at which a session asks the lobby again, and the answers that end it.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lobby, LobbyError, type SessionAnswer } from "../src/lobby.ts";
import { Session } from "../src/session.ts";

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
