// A player in Chromium says things, one after the other, and the time until each is answered is measured:
//
//   node web/e2e/latency.mjs --url http://127.0.0.1:8080 --transport webtransport --actions 600
//
// Prints one line of JSON: p50_ms, p99_ms, max_ms, errors. Needs Chromium (CHROMIUM, or /usr/bin/chromium) and a world that
// runs. `scripts/loss.sh` calls it in a network that loses packets.

import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values: options } = parseArgs({
  options: {
    url: { type: "string" },
    transport: { type: "string", default: "webtransport" },
    actions: { type: "string", default: "600" },
    /** Pause between an answer and the next action, ms. */
    pause: { type: "string", default: "20" },
  },
});
if (options.url === undefined) {
  console.error("usage: latency.mjs --url URL [--transport webtransport|websocket] [--actions NUMBER] [--pause MS]");
  process.exit(2);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage();
await page.goto(`${options.url}/?transport=${options.transport}`);
await page.waitForFunction(() => window.kosmos !== undefined);
await page.fill("#name", "Ada");
await page.click("#play");
await page.waitForFunction(() => window.kosmos.state() === "playing" && window.kosmos.me() !== null, undefined, { timeout: 60_000 });

/** Says things one by one; runs in the page. Returns the times until the answers, ms, and the number of actions without one. */
const sayAll = async ({ actions, pause }) => {
  const times = [];
  let errors = 0;
  for (let number = 0; number < actions; number++) {
    const began = performance.now();
    try {
      await window.kosmos.say(`word ${number}`);
      times.push(performance.now() - began);
    } catch {
      errors++;
    }
    await new Promise((done) => setTimeout(done, pause));
  }
  return { times, errors };
};
const { times, errors } = await page.evaluate(sayAll, { actions: Number(options.actions), pause: Number(options.pause) });
await browser.close();

times.sort((one, other) => one - other);
const quantile = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))]?.toFixed(1) ?? "0";
console.log(`{"p50_ms": ${quantile(0.5)}, "p99_ms": ${quantile(0.99)}, "max_ms": ${quantile(1)}, "errors": ${errors}}`);
