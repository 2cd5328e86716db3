// What every server on Node does: it reads its options and tells the runner its address.

import { parseArgs } from "node:util";

/** The options of a server: the number of clients that will come, and ticks per second. */
export function serverOptions() {
  const { values } = parseArgs({ options: { clients: { type: "string" }, hz: { type: "string" } } });
  return { clients: Number(values.clients), hz: Number(values.hz) };
}

/** Tells the runner where the server listens. The server ends with its input: a runner that is killed leaves none behind. */
export function tellAddress({ address, port }) {
  process.stdin.resume().on("end", () => process.exit());
  console.log(`listening ${address}:${port}`);
}
