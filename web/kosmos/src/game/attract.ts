// A small animated world behind the log-in, without players and without a server.

import { type Motion, type ViewObject, Track, headingOf } from "@ecumene/client";
import type { Effects } from "../scene/effects.ts";
import { ITEMS, type KosmosObject, type Shown } from "./kosmos.ts";
import { BLAST } from "./rules.ts";

const HALF = 46;
const NAMES = ["Ada", "Grace", "Linus", "Edsger", "Barbara", "Alan", "Radia", "Donald", "Frances", "Niklaus"];

interface Wanderer {
  thing: KosmosObject;
  speed: number;
  turnsAt: number;
  isRocket: boolean;
}

export class Attract {
  readonly objects: KosmosObject[] = [];
  private wanderers: Wanderer[] = [];
  private count = 0;
  private nextShot = 1_500;

  constructor() {
    NAMES.forEach((name) => this.add({ kind: "Avatar", name, health: 60 + Math.floor(Math.random() * 41), score: 0, offer: null }, 4.2));
    for (let index = 0; index < 9; index++) {
      this.add({ kind: "Npc", value: { kind: { kind: index % 2 === 0 ? "Deer" : "Hound" }, health: 50 } }, 2.4);
    }
    for (let index = 0; index < 12; index++) this.add({ kind: "Item", value: { kind: ITEMS[index % ITEMS.length] ?? "Gem" } }, 0);
    this.add({ kind: "Nest", value: { kind: "Deer" } }, 0);
    this.add({ kind: "Nest", value: { kind: "Hound" } }, 0);
  }

  /** The place that the drifting camera shows. */
  eye(now: number): { x: number; y: number } {
    return { x: Math.sin(now / 19_000) * 16, y: Math.cos(now / 23_000) * 12 };
  }

  update(now: number, passed: number, effects: Effects): void {
    for (const it of this.wanderers) {
      if (0 < it.speed && it.turnsAt <= now) it.isRocket ? this.burst(it, effects) : this.wander(it, now);
      it.thing.track.move(now, passed);
    }
    this.wanderers = this.wanderers.filter(({ thing }) => this.objects.includes(thing));
    if (this.nextShot < now) this.shoot(now);
  }

  private add(shown: Shown, speed: number, from?: Motion): Wanderer {
    const place = (): number => (Math.random() * 2 - 1) * HALF * 1000;
    const motion = from ?? motionOf(place(), place(), 0, 0, 0, 0);
    const object = { zone: 0, epoch: 0, counter: ++this.count };
    const thing: ViewObject<Shown> = { key: `${this.count}`, object, shown, changes: 1, track: new Track(motion, motion.start), isNow: true };
    this.objects.push(thing);
    const wanderer = { thing, speed, turnsAt: 0, isRocket: shown.kind === "Rocket" };
    this.wanderers.push(wanderer);
    return wanderer;
  }

  private wander(it: Wanderer, now: number): void {
    const { track } = it.thing;
    const isOut = HALF * 1000 < Math.max(Math.abs(track.x), Math.abs(track.y));
    const angle = isOut ? Math.atan2(-track.y, -track.x) : Math.random() * 7;
    const speed = Math.random() < 0.25 ? 0 : it.speed;
    track.replace(motionOf(track.x, track.y, angle, speed, now, track.newest.sequence + 1));
    it.turnsAt = now + 900 + Math.random() * 2_600;
  }

  private shoot(now: number): void {
    this.nextShot = now + 1_800 + Math.random() * 2_600;
    const from = this.wanderers[Math.floor(Math.random() * NAMES.length)]?.thing;
    if (from === undefined) return;
    const angle = Math.random() * 7;
    from.track.replace({ ...from.track.newest, heading: headingOf(angle), sequence: from.track.newest.sequence + 1 });
    const rocket = this.add({ kind: "Rocket", owner: from.object }, 34, motionOf(from.track.x, from.track.y, angle, 34, now, 0));
    rocket.turnsAt = now + 500 + Math.random() * 700;
  }

  private burst({ thing }: Wanderer, effects: Effects): void {
    this.objects.splice(this.objects.indexOf(thing), 1);
    effects.blast(thing.track.x / 1000, thing.track.y / 1000, BLAST);
  }
}

/** From (x, y) mm with `speed` m/s. */
function motionOf(x: number, y: number, angle: number, speed: number, start: number, sequence: number): Motion {
  const velocity = { x: Math.cos(angle) * speed * 1000, y: Math.sin(angle) * speed * 1000 };
  return { position: { x, y }, velocity, heading: headingOf(angle), start, generation: 0, sequence };
}
