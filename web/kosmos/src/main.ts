// The page: log-in, play, and the screen after the end of a session.
//
// ?name=Ada&autoplay enters at once; ?transport=websocket (or webtransport) uses only that.

import "pixi.js/unsafe-eval"; // PixiJS without eval, because a content security policy may forbid it.
import { Lobby, type Pass, type SessionEnd, type TransportKind } from "@ecumene/client";
import { Attract } from "./game/attract.ts";
import { Play, type PlayOptions } from "./game/play.ts";
import { installHook } from "./hook.ts";
import { listenToPointer } from "./input/pointer.ts";
import { isTouchDevice, listenToSticks } from "./input/touch.ts";
import { Scene } from "./scene/scene.ts";
import { $ } from "./ui/dom.ts";
import { Login, keepPass } from "./ui/login.ts";
import { WaitingScreen } from "./ui/waiting.ts";

/** The longest time step of a drawing, ms: after a hidden page the animation must not jump. */
const PASSED_MAX = 100;

/** Longest wait for admission to the world, ms. */
const ENTER_WITHIN = 15_000;

const query = new URLSearchParams(location.search);
const lobby = new Lobby();
const waiting = new WaitingScreen();
let play: Play | null = null;

function transportWish(): TransportKind | undefined {
  const wish = query.get("transport");
  return wish === "websocket" || wish === "webtransport" ? wish : undefined;
}

async function start(): Promise<void> {
  const scene = await Scene.create($("stage"));
  scene.setRegion([[-60, -60], [60, -60], [60, 60], [-60, 60]]);
  const attract = new Attract();
  const login = new Login({ lobby, enter: (pass) => enter(scene, pass, login) });
  installHook(() => play, (x, y) => ({ x: scene.camera.screenX(x), y: scene.camera.screenY(y) }));
  listen(scene);
  let last = performance.now();
  const draw = (now: number): void => {
    const passed = Math.min(PASSED_MAX, Math.max(0, now - last));
    last = now;
    if (play !== null) play.draw(now, passed);
    else {
      attract.update(now, passed, scene.effects);
      scene.draw({ objects: attract.objects, me: null, overlays: [], eye: attract.eye(now) }, now, passed);
    }
    requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
  if (query.has("autoplay")) await login.autoplay(query.get("name"));
  else if (query.has("name")) $<HTMLInputElement>("name").value = query.get("name") ?? "";
}

async function enter(scene: Scene, pass: Pass, login: Login): Promise<void> {
  const again = (): void => void enter(scene, pass, login).catch((error: unknown) => login.show(String(error)));
  const over = (why: SessionEnd | "left", reason: string): void => {
    play = null;
    if (why === "left") return login.show();
    if (why === "logged-out") keepPass(null);
    showOver(why, reason, why === "logged-out" ? () => login.show() : again);
  };
  const joined = await join({ lobby, pass, transport: transportWish(), scene, over });
  if (joined === null) return login.show();
  await entered(joined);
  play = joined;
  scene.camera.fit();
  document.body.dataset["mode"] = "play";
}

/** Joins the world, in the queue if it is full; null if the player gave up waiting. */
async function join(options: PlayOptions): Promise<Play | null> {
  const signal = waiting.giveUp();
  try {
    return await Play.start({ ...options, signal, onWaiting: (place) => waiting.show(place) });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  } finally {
    waiting.hide();
  }
}

/** Fails if no zone lets the player in, instead of waiting for ever. */
function entered({ world }: Play): Promise<void> {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => {
      world.disconnect();
      reject(new Error("The world does not answer. Try again in a moment."));
    }, ENTER_WITHIN);
    world.on("entered", () => {
      clearTimeout(patience);
      resolve();
    });
  });
}

/** Texts after the end of a session: title, text (null: the lobby's) and button. */
const ENDS: Record<SessionEnd, [string, string | null, string]> = {
  superseded: ["You play elsewhere", "Your avatar was taken over by another window or device.", "Play here"],
  "logged-out": ["Please log in again", null, "Log in"],
  ended: ["The world began anew", null, "Play"],
};

function showOver(why: SessionEnd, reason: string, again: () => void): void {
  const [title, text, button] = ENDS[why];
  $("over-title").textContent = title;
  $("over-text").textContent = text ?? reason;
  $("over-button").textContent = button;
  $("over-button").onclick = () => {
    $("over").hidden = true;
    again();
  };
  $("over").hidden = false;
}

function listen(scene: Scene): void {
  addEventListener("resize", () => scene.resize());
  document.body.classList.toggle("touching", isTouchDevice());
  listenToPointer($("stage"), {
    aim: (x, y) => play?.aim(x, y),
    press: (x, y, isTouch) => play?.press(x, y, isTouch) ?? false,
    fire: (isDown) => play?.fire(isDown),
    ask: (x, y) => play?.ask(x, y),
    zoom: (factor) => scene.camera.zoomBy(factor),
  });
  listenToSticks($("stick"), $("pad"), { walk: (x, y) => play?.walk(x, y), shoot: (angle) => play?.shoot(angle) });
  $("gear").onclick = () => play?.toggleStatus();
  $("touch-take").onclick = () => play?.take();
  $("touch-talk").onclick = () => play?.talk();
}

void start();
