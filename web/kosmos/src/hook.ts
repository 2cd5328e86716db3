// `window.kosmos`: what tests and curious players may look at and do. Everything goes the way of the page itself:
// nothing here can do what a player cannot.

import { idOf } from "@ecumene/client";
import type { Terms } from "./game/deeds.ts";
import { type KosmosAnswer, type Shown, meOf } from "./game/kosmos.ts";
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
  /** The own avatar, with all it has and how it moves, m/s; null while not in. */
  me(): (Seen & { mine: ReturnType<typeof meOf>; velocity: { x: number; y: number } }) | null;
  objects(): Seen[];
  /** Walks that way, as held keys would. */
  walk(dx: number, dy: number): void;
  stop(): void;
  /** Walks to a place; true when there. */
  walkTo(x: number, y: number, near?: number): Promise<boolean>;
  fire(angle: number): Promise<KosmosAnswer> | null;
  pickUp(key: string): Promise<KosmosAnswer>;
  drop(slot: number): Promise<KosmosAnswer>;
  offer(to: string, terms: Terms): Promise<KosmosAnswer>;
  /** Accepts what somebody offers. */
  accept(from: string): Promise<KosmosAnswer> | null;
  say(text: string): Promise<KosmosAnswer>;
  /** Where something in sight is on the screen, in pixels. */
  screen(key: string): { x: number; y: number } | null;
  /** What was told and answered lately. */
  notices(): unknown[];
  answers(): unknown[];
  status(): ReturnType<Play["world"]["status"]> | null;
  /** The zones of the world, with their corners in metres. */
  zones(): { zone: number; corners: [number, number][] }[];
  /** World time as this page believes it, ms. */
  now(): number;
}

declare global {
  interface Window {
    kosmos: KosmosHook;
  }
}

/** `current` gives the visit that goes on, if any. */
export function installHook(current: () => Play | null, screenOf: (x: number, y: number) => { x: number; y: number }): void {
  const playing = (): Play => {
    const play = current();
    if (play === null) throw new Error("not in a world yet");
    return play;
  };
  const seen = (key: string): Seen | null => {
    const thing = current()?.world.things.get(key);
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
    objects: () => [...(current()?.world.things.keys() ?? [])].flatMap((key) => seen(key) ?? []),
    walk: (dx, dy) => playing().walk(dx, dy),
    stop: () => playing().steering.stop(),
    walkTo: (x, y, near) => playing().steering.walkTo(x, y, near),
    fire: (angle) => {
      const play = playing();
      play.steering.angle = angle;
      return play.fireNow(angle);
    },
    pickUp: (key) => playing().deeds.pickUp(key),
    drop: (slot) => playing().deeds.drop(slot),
    offer: (to, terms) => playing().deeds.offer(idOf(to), terms),
    accept: (from) => {
      const { deeds } = playing();
      const found = deeds.offersToMe().find((it) => it.from.key === from);
      return found === undefined ? null : deeds.accept(found.from.object, found.offer);
    },
    say: (text) => playing().deeds.say(text),
    screen: (key) => {
      const thing = seen(key);
      return thing === null ? null : screenOf(thing.x, thing.y);
    },
    notices: () => current()?.journal.notices ?? [],
    answers: () => current()?.journal.answers ?? [],
    status: () => current()?.world.status() ?? null,
    zones: () =>
      (current()?.world.info.zones ?? []).map(({ zone, corners }) => ({
        zone,
        corners: corners.map(([x, y]): [number, number] => [x / 1000, y / 1000]),
      })),
    now: () => current()?.world.now ?? 0,
  };
}
