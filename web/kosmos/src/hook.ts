// `window.kosmos`: an interface for tests and curious players. It uses the same functions as the page: it can do nothing
// that a player cannot.

import { idOf } from "@ecumene/client";
import type { Terms } from "./game/player_actions.ts";
import { type KosmosResult, type Shown, meOf } from "./game/kosmos.ts";
import type { Play } from "./game/play.ts";

/** An object, as plain data. Metres; x to the east, y to the north. */
export interface Seen {
  key: string;
  x: number;
  y: number;
  shown: Shown;
}

export interface KosmosHook {
  /** "login" before a world is entered, then its state: joining, playing, searching, over. */
  state(): string;
  /** The player's avatar, with its goods and its velocity, m/s; null before the player has entered. */
  me(): (Seen & { mine: ReturnType<typeof meOf>; velocity: { x: number; y: number } }) | null;
  objects(): Seen[];
  /** Walks in this direction, as held keys do. */
  walk(dx: number, dy: number): void;
  stop(): void;
  /** Walks to a place; true on arrival. */
  walkTo(x: number, y: number, near?: number): Promise<boolean>;
  fire(angle: number): Promise<KosmosResult> | null;
  pickUp(key: string): Promise<KosmosResult>;
  drop(slot: number): Promise<KosmosResult>;
  offer(to: string, terms: Terms): Promise<KosmosResult>;
  /** Accepts the offer of another player. */
  accept(from: string): Promise<KosmosResult> | null;
  say(text: string): Promise<KosmosResult>;
  /** Screen position of an object in sight, in pixels. */
  screen(key: string): { x: number; y: number } | null;
  /** The latest notices and results. */
  notices(): unknown[];
  answers(): unknown[];
  status(): ReturnType<Play["world"]["status"]> | null;
  /** The zones of the world, with their corners in metres. */
  zones(): { zone: number; corners: [number, number][] }[];
  /** World time as this page estimates it, ms. */
  now(): number;
}

declare global {
  interface Window {
    kosmos: KosmosHook;
  }
}

/** `current` returns the present visit, if any. */
export function installHook(current: () => Play | null, screenOf: (x: number, y: number) => { x: number; y: number }): void {
  const playing = (): Play => {
    const play = current();
    if (play === null) throw new Error("not in a world yet");
    return play;
  };
  const seen = (key: string): Seen | null => {
    const thing = current()?.world.objects.get(key);
    if (thing === undefined) return null;
    return { key, x: thing.track.x / 1000, y: thing.track.y / 1000, shown: thing.shown };
  };
  window.kosmos = {
    state: () => current()?.world.state ?? "login",
    me: () => {
      const play = current();
      const own = play?.world.me ? seen(play.world.me) : null;
      if (own === null || play === null) return null;
      const { x, y } = play.world.motion.velocity;
      return { ...own, mine: meOf(play.world), velocity: { x: x / 1000, y: y / 1000 } };
    },
    objects: () => [...(current()?.world.objects.keys() ?? [])].flatMap((key) => seen(key) ?? []),
    walk: (dx, dy) => playing().walk(dx, dy),
    stop: () => playing().steering.stop(),
    walkTo: (x, y, near) => playing().steering.walkTo(x, y, near),
    fire: (angle) => {
      const play = playing();
      play.steering.angle = angle;
      return play.fireNow(angle);
    },
    pickUp: (key) => playing().actions.pickUp(key),
    drop: (slot) => playing().actions.drop(slot),
    offer: (to, terms) => playing().actions.offer(idOf(to), terms),
    accept: (from) => {
      const { actions } = playing();
      const found = actions.offersToMe().find((it) => it.from.key === from);
      return found === undefined ? null : actions.accept(found.from.object, found.offer);
    },
    say: (text) => playing().actions.say(text),
    screen: (key) => {
      const thing = seen(key);
      return thing === null ? null : screenOf(thing.x, thing.y);
    },
    notices: () => current()?.recentEvents.notices ?? [],
    answers: () => current()?.recentEvents.answers ?? [],
    status: () => current()?.world.status() ?? null,
    zones: () =>
      (current()?.world.info.zones ?? []).map(({ zone, corners }) => ({
        zone,
        corners: corners.map(([x, y]): [number, number] => [x / 1000, y / 1000]),
      })),
    now: () => current()?.world.now ?? 0,
  };
}
