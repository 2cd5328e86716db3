// All clients of a system in one process: they enter, walk and measure, as those of `../workload/src/clients.rs` do.

import { parseArgs } from "node:util";
import { Measurements } from "./measurements.mjs";
import { half, MOVES_PER_SECOND, stamp, Walker } from "./workload.mjs";

/** Number of clients that measure times. */
const PROBES = 8;

const MOVE_EVERY = 1_000 / MOVES_PER_SECOND;

/** Interval of the pings of a client that measures times, in milliseconds; no multiple of a tick. */
const PING_EVERY = 263;

/** Interval at which the process looks for clients whose move is due, in milliseconds. */
const TURN = 2;

/** Time that all clients together may take to connect, in milliseconds. */
const CONNECT_TIMEOUT = 60_000;

/** Time before measuring begins, in which the clients learn of each other, in milliseconds. */
const WARM_UP = 3_000;

/** Number of clients that connect at the same time. */
const TOGETHER = 10;

/**
 * Runs all clients. `connect(server, number, received)` gives a promise of a client with `move(x, y, at)` and `ping(at)`;
 * the client calls `received.update(avatar, at)` and `received.pong(at)`. A client whose connection ends must throw.
 */
export async function measure(connect) {
  const { values } = parseArgs({
    options: { server: { type: "string" }, clients: { type: "string" }, seconds: { type: "string" } },
  });
  const [count, seconds] = [Number(values.clients), Number(values.seconds)];
  const measurements = new Measurements(count);
  const members = [];
  const timeout = setTimeout(() => {
    throw new Error(`${count - members.length} clients could not connect`);
  }, CONNECT_TIMEOUT);
  setInterval(() => members.forEach((it) => turn(it, measurements)), TURN);
  for (let first = 0; first < count; first += TOGETHER) {
    const numbers = Array.from({ length: Math.min(TOGETHER, count - first) }, (_, i) => first + i);
    members.push(...(await Promise.all(numbers.map((it) => enter(it, values.server, count, measurements, connect)))));
  }
  clearTimeout(timeout);
  await sleep(WARM_UP);
  measurements.reset();
  const began = performance.now();
  console.log("measuring");
  await sleep((seconds * 1_000) / 2);
  const visible = measurements.visible(stamp());
  await sleep((seconds * 1_000) / 2);
  console.log("measured");
  console.log(JSON.stringify(measurements.report((performance.now() - began) / 1_000, visible)));
  process.exit(0);
}

async function enter(number, server, count, measurements, connect) {
  const timed = number < PROBES;
  const client = await connect(server, number, {
    update: (avatar, at) => measurements.onUpdate(number, avatar, at, timed ? stamp() : 0),
    pong: (at) => measurements.onPong(at, stamp()),
  });
  // Clients that connect at the same time do not move at the same time.
  const nextMove = performance.now() + (MOVE_EVERY * (number % 97)) / 97;
  return { client, walker: new Walker(number, half(count)), nextMove, nextPing: timed ? nextMove : Infinity };
}

function turn(member, measurements) {
  const now = performance.now();
  if (member.nextMove <= now) {
    // A client that is late by several moves leaves them out; the runner then says that clients fell behind.
    member.nextMove = Math.max(member.nextMove + MOVE_EVERY, now - 3 * MOVE_EVERY);
    member.walker.step();
    member.client.move(member.walker.x, member.walker.y, stamp());
    measurements.moves++;
  }
  if (member.nextPing <= now) {
    member.nextPing = now + PING_EVERY;
    member.client.ping(stamp());
  }
}

function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
