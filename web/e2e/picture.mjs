// Films a player whose host is killed. Called by scripts/picture.sh, which starts the world and joins the frames.
//
// A caption on the page says what the page itself knows: which host decides about the avatar, and how long no host did.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values: options } = parseArgs({
  options: { url: { type: "string" }, demo: { type: "string" }, frames: { type: "string" } },
});

/** Size of the picture, pixels. */
const SIZE = { width: 720, height: 405 };
/** Least time between two frames of the picture, ms. */
const LEAST = 70;
/** Time that the last frame stays before the picture begins again, ms. */
const END = 2_000;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});
const page = await (await browser.newContext({ viewport: SIZE })).newPage();
await page.goto(`${options.url}/?transport=webtransport`);
await page.waitForFunction(() => window.kosmos !== undefined);
await page.fill("#name", "Ada");
await page.click("#play");
await page.waitForFunction(() => window.kosmos.state() === "playing" && window.kosmos.me() !== null, null, { timeout: 60_000 });

// The caption, and a clock that notices which host decides. It runs in the page, so that its times are a player's.
await page.evaluate(() => {
  const caption = document.createElement("div");
  caption.style.cssText =
    "position:fixed;left:50%;bottom:86px;transform:translateX(-50%);padding:8px 18px;border-radius:8px;z-index:99;" +
    "font:600 17px system-ui;color:#fff;background:rgba(10,14,30,.86);white-space:nowrap";
  document.getElementById("keys").style.display = "none";
  document.body.append(caption);
  window.film = { killed: null, victim: null, back: null, heir: null };
  setInterval(() => {
    const { film } = window;
    const status = window.kosmos.status();
    const isServed = window.kosmos.state() === "playing" && status.host !== null && status.host !== film.victim;
    if (film.killed !== null && film.back === null && isServed) Object.assign(film, { back: performance.now(), heir: status.host });
    if (film.killed === null) caption.textContent = `Ada walks; host ${status.host} decides about her`;
    else if (film.back === null) caption.textContent = `host ${film.victim} is killed (kill -9) …`;
    else caption.textContent = `host ${film.heir} decides now, after ${((film.back - film.killed) / 1000).toFixed(2)} s`;
    caption.style.background = film.killed !== null && film.back === null ? "rgba(150,20,30,.92)" : "rgba(10,14,30,.86)";
  }, 16);
});

/** The process of a host: a child of the demo's. */
function processOf(host) {
  const lines = execFileSync("ps", ["--ppid", options.demo, "-o", "pid=,args="], { encoding: "utf8" }).trim().split("\n");
  const line = lines.find((it) => it.includes(` host `) && new RegExp(`--id ${host}( |$)`).test(it));
  if (line === undefined) throw new Error(`no process of host ${host} among\n${lines.join("\n")}`);
  return Number(line.trim().split(/\s+/)[0]);
}

/** Frames that the browser drew: their file, and when, s. */
const frames = [];
const session = await page.context().newCDPSession(page);
session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
  void session.send("Page.screencastFrameAck", { sessionId });
  const last = frames.at(-1);
  if (last !== undefined && (metadata.timestamp - last.at) * 1000 < LEAST) return;
  const file = join(options.frames, `${String(frames.length).padStart(4, "0")}.jpg`);
  writeFileSync(file, Buffer.from(data, "base64"));
  frames.push({ file, at: metadata.timestamp });
});

/** Walks there and back, so that every frame shows a step. */
await page.evaluate(() => {
  let angle = 0;
  setInterval(() => {
    angle += 0.12;
    window.kosmos.walk(Math.cos(angle), Math.sin(angle));
  }, 250);
});

await page.waitForTimeout(1_500);
await session.send("Page.startScreencast", { format: "jpeg", quality: 85, everyNthFrame: 1 });
await page.waitForTimeout(3_000);
const victim = await page.evaluate(() => window.kosmos.status().host);
process.kill(processOf(victim), "SIGKILL");
await page.evaluate((host) => Object.assign(window.film, { killed: performance.now(), victim: host }), victim);
await page.waitForTimeout(5_000);
await session.send("Page.stopScreencast");
const { killed, back } = await page.evaluate(() => window.film);
await browser.close();

// The arguments of img2webp: each frame with the time it was on the screen.
const shown = frames.map(({ file, at }, i) => {
  const next = frames[i + 1]?.at ?? at + END / 1000;
  return `-d ${Math.max(1, Math.round((next - at) * 1000))} ${file}`;
});
writeFileSync(join(options.frames, "list.txt"), shown.join("\n"));
console.log(`host ${victim} was killed; another decided after ${back === null ? "?" : Math.round(back - killed)} ms; ${frames.length} frames`);
if (back === null) process.exit(1);
