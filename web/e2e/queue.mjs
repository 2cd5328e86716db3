// A world that takes one player: the others wait in the lobby's queue. The world must run with `[lobby] players_max = 1`:
//
//   node web/e2e/queue.mjs --url http://127.0.0.1:8080 --shots out/shots
//
// Ada plays; Bob and Eve wait and see their places; Eve goes back; Ada leaves, and Bob comes in. The exit code is 0 if all
// of it holds. Needs Chromium (CHROMIUM, or /usr/bin/chromium).

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values: options } = parseArgs({
  options: { url: { type: "string" }, shots: { type: "string" }, patience: { type: "string", default: "90" } },
});
if (options.url === undefined) {
  console.error("usage: queue.mjs --url URL [--shots DIR] [--patience SECONDS]");
  process.exit(2);
}
const timeout = Number(options.patience) * 1000;
if (options.shots !== undefined) mkdirSync(options.shots, { recursive: true });

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
  ],
});

/** Opens the page under a name and clicks the button. */
async function come(name) {
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 640 } })).newPage();
  page.who = name;
  page.on("pageerror", (error) => {
    console.error(`${name}: the page failed: ${error.stack ?? error}`);
    process.exitCode = 1;
  });
  await page.goto(options.url);
  await until(page, "the page is there", () => window.kosmos !== undefined);
  await page.fill("#name", name);
  await page.click("#play");
  return page;
}

async function until(page, what, test, argument) {
  try {
    await page.waitForFunction(test, argument, { timeout, polling: 50 });
    console.log(`${page.who}: ${what}`);
  } catch {
    throw new Error(`${page.who}: waited in vain until ${what}`);
  }
}

const plays = () => window.kosmos.state() === "playing" && window.kosmos.me() !== null && document.querySelector("#waiting").hidden;
const waitsAt = (text) => !document.querySelector("#waiting").hidden && document.querySelector("#waiting-text").textContent === text;
const place = (page, text) => until(page, text, waitsAt, text);

const shoot = async (page, name) => {
  if (options.shots !== undefined) await page.screenshot({ path: join(options.shots, `${name}.png`) });
};

try {
  const ada = await come("Ada");
  await until(ada, "plays", plays);
  const bob = await come("Bob");
  await place(bob, "You are 1st of 1 in the queue.");
  const eve = await come("Eve");
  await place(eve, "You are 2nd of 2 in the queue.");
  await shoot(eve, "waiting");
  await place(bob, "You are 1st of 2 in the queue.");
  await eve.click("#waiting-cancel");
  await until(eve, "is back at the log-in", () => document.querySelector("#waiting").hidden && document.body.dataset.mode === "login" && !document.querySelector("#play").disabled);
  await ada.context().close();
  await until(bob, "plays, now that Ada has left", plays);
} catch (error) {
  console.error(`FAILED: ${error.message}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
