// Two people play in two browsers, against a world that runs:
//
//   node web/e2e/play.mjs --url http://127.0.0.1:8080 --transport webtransport --shots out/shots
//
// They log in, walk, talk, take, trade and fire, by keys and clicks; the test reads the effects from `window.kosmos`.
// The exit code is 0 if every step succeeded. Needs Chromium (CHROMIUM, or /usr/bin/chromium).
//
// A world without bots is quickest (`ecumene demo --bots 0`). Where hunters roam, a felled avatar rises elsewhere, and the
// two players have to meet again before they go on.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium, devices } from "playwright-core";

const { values: options } = parseArgs({
  options: {
    url: { type: "string" },
    transport: { type: "string", default: "webtransport" },
    shots: { type: "string" },
    /** Longest time of one step, in seconds: on a computer that compiles meanwhile, loading a page takes half a minute. */
    patience: { type: "string", default: "90" },
  },
});
if (options.url === undefined) {
  console.error("usage: play.mjs --url URL [--transport webtransport|websocket] [--shots DIR] [--patience SECONDS]");
  process.exit(2);
}
const patience = Number(options.patience) * 1000;
/** A world may be 400 m wide, and people walk 6 m a second, round rockets. */
const walkPatience = Math.max(patience, 150_000);
/** A zone keeps the avatar of a disconnected player at least this long, ms. */
const AWAY_MAX = 8_000;
const shots = options.shots;
if (shots !== undefined) mkdirSync(shots, { recursive: true });

const began = Date.now();
const step = (what) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${what}`);

/** Waits until `test`, run in the page, returns a true value, and returns that. */
async function until(page, what, test, argument, timeout = patience) {
  try {
    const handle = await page.waitForFunction(test, argument, { timeout, polling: 50 });
    return await handle.jsonValue();
  } catch {
    throw new Error(`${page.who}: waited ${timeout / 1000} s in vain until ${what}`);
  }
}

function check(condition, what) {
  if (!condition) throw new Error(`not so: ${what}`);
}

const shoot = async (page, name) => {
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) });
};

const me = (page) => page.evaluate(() => {
  const it = window.kosmos.me();
  return it === null ? null : { key: it.key, x: it.x, y: it.y, health: it.mine.health, coins: it.mine.coins, bag: it.mine.bag.map((item) => item.kind.kind) };
});

// Entering.

async function open(browser, who, settings) {
  const context = await browser.newContext(settings);
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.who = who;
  page.on("pageerror", (error) => {
    console.error(`${who}: the page failed: ${error.stack ?? error}`);
    process.exitCode = 1;
  });
  return page;
}

async function logIn(page, name) {
  await page.goto(`${options.url}/?transport=${options.transport}`);
  await until(page, "the page has drawn something", () => document.querySelector("#stage canvas") !== null && window.kosmos !== undefined);
  await page.fill("#name", name);
  if (name.startsWith("Ada")) await shoot(page, "login");
  await page.click("#play");
  await until(page, "the world lets them in", () => window.kosmos.state() === "playing" && window.kosmos.me() !== null);
  const { transport } = await page.evaluate(() => window.kosmos.status());
  check(transport === options.transport, `${page.who} plays over ${options.transport}, not ${transport}`);
}

// Walking.

/** Holds a key until the avatar has moved a few metres in both pages. */
async function walkByKey(page, watcher) {
  const before = await me(page);
  const key = before.x < 0 ? "KeyD" : "KeyA";
  await page.keyboard.down(key);
  const far = ({ key, x }) => {
    const it = window.kosmos.objects().find((thing) => thing.key === key);
    return it !== undefined && 3 < Math.abs(it.x - x);
  };
  try {
    await until(page, "a held key has moved the own avatar", far, before);
    await until(watcher, "the other one's avatar is seen to move", far, before);
  } finally {
    await page.keyboard.up(key);
  }
}

/** Walks until the place is near. An avatar that is felled on the way walks again from the place where it rises. */
async function walkTo(page, { x, y }, near) {
  const end = Date.now() + walkPatience;
  for (;;) {
    // A page in the background may not be drawn for long; an avatar that is not steered walks on, up to the world's edge.
    await page.bringToFront();
    await page.evaluate(({ x, y, near }) => void window.kosmos.walkTo(x, y, near * 0.6), { x, y, near });
    const arrived = ({ x, y, near }) => {
      const it = window.kosmos.me();
      return it !== null && 0 < it.mine.health && Math.hypot(it.x - x, it.y - y) <= near;
    };
    try {
      return await until(page, `they are at ${x.toFixed(0)}, ${y.toFixed(0)}`, arrived, { x, y, near }, 20_000);
    } catch (error) {
      if (end < Date.now()) throw error;
    }
  }
}

/** Waits until a page has drawn its present objects. */
const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

/**
 * Walks to a place and stands still there, in the zone of that place. Arrival is not enough: a page that draws few frames
 * lets the avatar run on, and after a border the old zone still owns the avatar for a moment.
 */
async function standAt(page, { x, y }, near, zone) {
  const end = Date.now() + walkPatience;
  const place = { x, y, near, zone };
  const stands = ({ x, y, near, zone }) => {
    const it = window.kosmos.me();
    if (it === null || it.mine.health === 0 || window.kosmos.state() !== "playing") return false;
    const isThere = Math.hypot(it.x - x, it.y - y) <= near && it.velocity.x === 0 && it.velocity.y === 0;
    return isThere && window.kosmos.status()?.zone === zone;
  };
  for (;;) {
    await walkTo(page, { x, y }, near);
    const what = `they stand at ${x.toFixed(0)}, ${y.toFixed(0)} in zone ${zone}`;
    const isStanding = await until(page, what, stands, place, 10_000).catch(() => false);
    await frame(page);
    if (isStanding && (await page.evaluate(stands, place))) return;
    if (end < Date.now()) throw new Error(`${page.who}: waited ${walkPatience / 1000} s in vain until ${what}`);
  }
}

async function meet(ada, bob) {
  const end = Date.now() + 2 * walkPatience;
  for (;;) {
    const [a, b] = [await me(ada), await me(bob)];
    if (0 < a.health && 0 < b.health && Math.hypot(a.x - b.x, a.y - b.y) < 5) break;
    if (end < Date.now()) throw new Error("the two never met");
    const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    await Promise.all([walkTo(ada, middle, 2), walkTo(bob, middle, 2)]);
  }
  const sees = (name) => window.kosmos.objects().some(({ shown }) => shown.kind === "Avatar" && shown.name === name);
  await until(ada, "Bob is in sight", sees, bob.who);
  await until(bob, "Ada is in sight", sees, ada.who);
}

/** Number of times that an avatar was felled. */
const falls = (page) => page.evaluate(() => {
  const own = window.kosmos.me()?.key;
  return window.kosmos.notices().filter((it) => it.kind === "Felled" && `${it.victim.zone}.${it.victim.epoch}.${it.victim.counter}` === own).length;
});

/** Runs a step that needs both players in one place; repeats it if a hunter felled one of them. */
async function together(ada, bob, act) {
  for (let tries = 1; ; tries++) {
    await meet(ada, bob);
    const before = (await falls(ada)) + (await falls(bob));
    try {
      return await act();
    } catch (error) {
      const wereFelled = before < (await falls(ada)) + (await falls(bob));
      if (!wereFelled || tries === 5) throw error;
      step(`one of them was felled meanwhile (${error.message}): again`);
      await Promise.all([ada, bob].map((page) => page.keyboard.press("Escape")));
    }
  }
}

// Taking.

/** The item nearest to a page's avatar, with its place. */
const nearestItem = () => {
  const own = window.kosmos.me();
  const way = (it) => Math.hypot(it.x - own.x, it.y - own.y);
  const items = window.kosmos.objects().filter(({ shown }) => shown.kind === "Item");
  return items.sort((one, other) => way(one) - way(other)).map(({ key, x, y }) => ({ key, x, y }))[0] ?? null;
};

/** Takes the nearest item with the E key. If another player was quicker, tries the next one. */
async function takeByKey(page) {
  for (let tries = 0; tries < 5; tries++) {
    const item = await until(page, "an item is in sight", nearestItem);
    await walkTo(page, item, 1.2);
    const [before, asked] = [await me(page), await pickUps(page)];
    await page.keyboard.press("KeyE");
    const took = await until(page, "taking is answered", (count) => {
      const answers = window.kosmos.answers().filter(({ action }) => action.kind === "PickUp");
      return count < answers.length ? answers.at(-1).answer.kind : null;
    }, asked);
    if (took === "done") return void (await until(page, "the bag is fuller", (size) => window.kosmos.me().mine.bag.length === size, before.bag.length + 1));
  }
  throw new Error(`${page.who}: five items in a row were gone`);
}

const pickUps = (page) => page.evaluate(() => window.kosmos.answers().filter(({ action }) => action.kind === "PickUp").length);

/** Both reach for the same item at once: one gets it, the other gets a refusal. */
async function race(ada, bob) {
  for (let tries = 0; tries < 5; tries++) {
    const item = await until(ada, "an item is in sight", nearestItem);
    await Promise.all([walkTo(ada, item, 1.5), walkTo(bob, item, 1.5)]);
    const reach = (key) => window.kosmos.pickUp(key).then((answer) => (answer.kind === "refused" ? answer.refusal.kind : answer.kind));
    const outcomes = await Promise.all([ada.evaluate(reach, item.key), bob.evaluate(reach, item.key)]);
    const done = outcomes.filter((it) => it === "done").length;
    check(done <= 1, `an item is taken once, not twice: ${outcomes}`);
    if (done === 1) {
      check(outcomes.includes("Gone"), `who came too late is told so: ${outcomes}`);
      const winner = outcomes[0] === "done" ? ada : bob;
      return winner;
    }
    step(`a third one was quicker (${outcomes}): again`);
  }
  throw new Error("five items in a row went to others");
}

// Trading, talking, firing.

const keyOfName = (page, name) => page.evaluate((name) => {
  return window.kosmos.objects().find(({ shown }) => shown.kind === "Avatar" && shown.name === name)?.key ?? null;
}, name);

/** Points at a player's present place on the screen; a moving camera will show the player elsewhere. */
async function pointAt(page, key) {
  const point = await page.evaluate((key) => window.kosmos.screen(key), key);
  check(point !== null, "who is pointed at is in sight");
  await page.mouse.move(point.x, point.y);
  return point;
}

async function tradeNearby(seller, buyer) {
  const place = await me(seller);
  await walkTo(buyer, { x: place.x + 3, y: place.y }, 2.5);
  await trade(seller, buyer);
}

/** Opens a trade by pointing and clicking; repeats it if another avatar was under the pointer or the camera moved. */
async function openTrade(seller, buyer) {
  const shows = (name) => !document.querySelector("#trade").hidden && document.querySelector("#trade h2 b")?.textContent === name;
  for (let tries = 1; ; tries++) {
    await frame(seller);
    const { x, y } = await pointAt(seller, await keyOfName(seller, buyer.who));
    await seller.mouse.click(x, y, { button: "right" });
    const failed = await until(seller, "the trade panel shows the buyer", shows, buyer.who, 3_000).then(() => null, (error) => error);
    if (failed === null) return;
    if (tries === 10) throw failed;
    await seller.keyboard.press("Escape");
  }
}

async function trade(seller, buyer) {
  await openTrade(seller, buyer);
  const [a, b] = [await me(seller), await me(buyer)];
  await seller.locator("#trade .side").first().locator(".slot").first().click();
  await seller.fill("#give-coins", "3");
  await seller.fill("#want-coins", "5");
  await shoot(seller, "trade");
  await seller.click("#trade-offer");
  const card = buyer.locator(".offer", { hasText: seller.who }).locator(".accept:enabled");
  await card.waitFor({ timeout: patience }).catch(() => {
    throw new Error(`${buyer.who}: the offer never came, or cannot be accepted`);
  });
  await shoot(buyer, "offer");
  await card.click();
  const has = ({ coins, bag }) => window.kosmos.me().mine.coins === coins && window.kosmos.me().mine.bag.length === bag;
  await until(seller, "the seller has the coins and not the item", has, { coins: a.coins + 2, bag: a.bag.length - 1 });
  await until(buyer, "the buyer has the item and not the coins", has, { coins: b.coins - 2, bag: b.bag.length + 1 });
  await until(seller, "both hear of the bargain", () => window.kosmos.notices().some((it) => it.kind === "Traded"));
}

/** The nearest border from south to north, and a place on it, not too near its ends. */
const nearestBorder = () => {
  const own = window.kosmos.me();
  const zones = window.kosmos.zones();
  const edge = Math.max(...zones.flatMap(({ corners }) => corners.map(([x]) => x)));
  const sides = zones.flatMap(({ corners }) => {
    const ends = corners.map((corner, index) => [corner, corners[(index + 1) % corners.length]]);
    return ends.filter(([[ax], [bx]]) => ax === bx && Math.abs(ax) < edge - 1);
  });
  const places = sides.map(([[x, ay], [, by]]) => {
    const [low, high] = [Math.min(ay, by) + 20, Math.max(ay, by) - 20];
    return { x, y: Math.min(Math.max(own.y, low), high) };
  });
  const way = (it) => Math.hypot(it.x - own.x, it.y - own.y);
  return places.sort((one, other) => way(one) - way(other))[0] ?? null;
};

/** The zone that a place is in; corners are counterclockwise. */
const zoneAt = ({ x, y }) => {
  const isLeft = ([ax, ay], [bx, by]) => 0 <= (bx - ax) * (y - ay) - (by - ay) * (x - ax);
  const holds = ({ corners }) => corners.every((corner, index) => isLeft(corner, corners[(index + 1) % corners.length]));
  return window.kosmos.zones().find(holds)?.zone ?? null;
};

/** One stays on this side of a border, the other one walks over; then they trade. */
async function acrossTheBorder(ada, bob) {
  const border = await ada.evaluate(nearestBorder);
  check(border !== null, "there is a border");
  // Objects change zones only two metres beyond a border, and trade reaches eight metres.
  const [off, near] = [3.2, 0.7];
  const [here, beyond] = [{ x: border.x - off, y: border.y }, { x: border.x + off, y: border.y }];
  const [west, east] = [await ada.evaluate(zoneAt, here), await ada.evaluate(zoneAt, beyond)];
  check(west !== null && east !== null && west !== east, `a border parts two zones: ${west}, ${east}`);
  if ((await me(bob)).bag.length === 0) await takeByKey(bob);
  await Promise.all([standAt(ada, here, near, west), standAt(bob, { x: here.x, y: here.y + 2 }, near, west)]);
  await standAt(bob, beyond, near, east);
  await shoot(bob, "border");
  await trade(bob, ada);
  // Both avatars still stand in their places, so they were in different zones during the trade.
  const serves = (zone) => window.kosmos.status()?.zone === zone;
  await until(ada, "the zone on this side serves her still", serves, west);
  await until(bob, "the zone beyond the border serves him still", serves, east);
}

/** Repeats a step that fails: a busy computer is slow, not wrong. */
async function patiently(ada, bob, act) {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === 3) throw error;
      step(`${error.message}: again`);
      await Promise.all([ada, bob].map((page) => page.keyboard.press("Escape")));
    }
  }
}

async function talk(speaker, hearer) {
  const text = `hello from ${speaker.who} ✓`;
  await speaker.keyboard.press("Enter");
  await speaker.keyboard.type(text);
  await speaker.keyboard.press("Enter");
  await until(hearer, "the other one reads it", (text) => document.querySelector("#chat-log")?.textContent.includes(text), text);
}

/** One player fires at the other by pointing and clicking, until the other loses health. */
async function hit(shooter, target) {
  const before = await me(target);
  const place = await me(shooter);
  const side = place.x < 0 ? 1 : -1;
  await walkTo(target, { x: place.x + side * 10, y: place.y }, 2);
  for (let shot = 0; shot < 20; shot++) {
    const key = await keyOfName(shooter, target.who);
    check(key !== null, `${target.who} is in sight`);
    await pointAt(shooter, key);
    await shooter.mouse.down();
    await until(shooter, "a shot is answered", () => window.kosmos.answers().some(({ action, answer }) => action.kind === "Fire" && answer.kind === "done"));
    const hurt = ({ key, health }) => {
      const felled = window.kosmos.notices().some((it) => it.kind === "Felled" && `${it.victim.zone}.${it.victim.epoch}.${it.victim.counter}` === key);
      return felled || window.kosmos.me().mine.health < health;
    };
    const isHurt = await until(target, "it hurts", hurt, before, 2_500).catch(() => false);
    await shooter.mouse.up();
    if (isHurt) return shoot(shooter, "hit");
  }
  throw new Error(`${shooter.who}: twenty shots, and none hit`);
}

// The whole test.

async function playAll(browser) {
  const desk = { viewport: { width: 1000, height: 640 } };
  const tag = Math.random().toString(36).slice(2, 6);
  const [ada, bob] = [await open(browser, `Ada ${tag}`, desk), await open(browser, `Bob ${tag}`, desk)];
  await Promise.all([logIn(ada, ada.who), logIn(bob, bob.who)]);
  step(`both are in, over ${options.transport}`);
  await meet(ada, bob);
  step("they have met");
  await together(ada, bob, () => walkByKey(ada, bob));
  step("a held key walks, and the other one sees it");
  await shoot(ada, "play");
  await together(ada, bob, () => talk(bob, ada));
  step("talk is heard");
  const winner = await together(ada, bob, () => race(ada, bob));
  step(`both reached for one item: ${winner.who} has it, the other one was told`);
  await together(ada, bob, async () => {
    await takeByKey(ada);
    step("an item is taken with a key");
    await tradeNearby(ada, bob);
  });
  step("a bargain changed coins and item, on both sides");
  await patiently(ada, bob, () => together(ada, bob, () => acrossTheBorder(ada, bob)));
  step("one walked over the border, and they traded across it");
  await together(ada, bob, () => hit(bob, ada));
  step("a rocket hit");
  const phone = await open(browser, `Eve ${tag}`, { ...devices["Pixel 7"], defaultBrowserType: undefined });
  await phone.goto(`${options.url}/?transport=${options.transport}&autoplay&name=${encodeURIComponent(phone.who)}`);
  await until(phone, "a phone is let in", () => window.kosmos?.state() === "playing" && window.kosmos.me() !== null);
  check(await phone.locator("#stick").isVisible(), "a phone has a stick");
  await shoot(phone, "phone");
  step("a phone is in");
  // The other pages are closed before a reload: drawing three pages may take longer than a zone keeps the avatar.
  await Promise.all([phone.context().close(), bob.context().close()]);
  await comeBack(ada);
}

/** A reload brings the same avatar back, unless it took longer than a zone keeps it. */
async function comeBack(page) {
  const before = await me(page);
  const left = Date.now();
  await page.goto(`${options.url}/?transport=${options.transport}&autoplay`);
  await until(page, "they are in again", () => window.kosmos?.state() === "playing" && window.kosmos.me() !== null);
  const [after, away] = [await me(page), Date.now() - left];
  if (after.key !== before.key && AWAY_MAX < away) return step(`back after ${away} ms: too late for the old avatar`);
  check(after.key === before.key, `a reload of ${away} ms brings the same avatar back: ${before.key}, not ${after.key}`);
  step("a reload brings the same avatar back");
}

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
    // Two pages play at once: the browser must not throttle one of them as a background page.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
  ],
});
try {
  await playAll(browser);
  step(process.exitCode ? "done, but a page failed" : "all of it holds");
} catch (error) {
  console.error(`FAILED: ${error.message}`);
  for (const context of browser.contexts()) {
    for (const page of context.pages()) {
      await shoot(page, `failed-${page.who.split(" ")[0]}`).catch(() => undefined);
      const state = await page.evaluate(() => JSON.stringify({ state: window.kosmos?.state(), status: window.kosmos?.status(), me: window.kosmos?.me() })).catch(() => "gone");
      console.error(`  ${page.who}: ${state}`);
    }
  }
  process.exitCode = 1;
} finally {
  await browser.close();
}
