// The drawn scene: ground, objects, labels, effects. Its caller passes the objects in; it uses no network.

import { Application, Container } from "pixi.js";
import { UNIT } from "../art/draw.ts";
import { EMBER, INK, colourOf } from "../art/palette.ts";
import { type Textures, makeTextures } from "../art/textures.ts";
import { type KosmosObject, type Overlay, personOf } from "../game/kosmos.ts";
import type { Zone } from "../game/region.ts";
import { MUZZLE, ROCKET_SPEED } from "../game/rules.ts";
import { Actor, type Kind, kindOf } from "./actor.ts";
import { Borders } from "./borders.ts";
import { Camera } from "./camera.ts";
import { Effects } from "./effects.ts";
import { Ground } from "./ground.ts";
import { Label } from "./labels.ts";
import { Pool } from "./pool.ts";
import { Quality, isSlowPainter } from "./quality.ts";

interface DrawnObject {
  actor: Actor;
  label: Label | null;
  health: number | null;
  x: number;
  y: number;
  /** Number of the picture that showed it last. */
  picture: number;
}

/** Layers from bottom to top. */
const LAYERS: Kind[] = ["nest", "item", "npc", "avatar", "rocket"];

/** What one drawing shows. */
export interface Picture {
  objects: Iterable<KosmosObject>;
  me: string | null;
  overlays: Iterable<{ overlay: Overlay | null; asked: number }>;
  /** The place that the camera shows, metres; null follows the player's avatar. */
  eye: { x: number; y: number } | null;
}

export class Scene {
  readonly app: Application;
  readonly textures: Textures;
  readonly camera = new Camera();
  readonly effects: Effects;
  private readonly ground: Ground;
  private readonly borders = new Borders();
  private readonly world = new Container();
  private readonly layers = new Map<Kind, Container>();
  private readonly labels = new Container();
  private readonly pools = new Map<Kind, Pool<Actor>>();
  private readonly labelPool = new Pool(() => new Label());
  private readonly drawn = new Map<string, DrawnObject>();
  private readonly overlayRockets: Actor[] = [];
  private readonly quality: Quality;
  /** Number of pictures drawn so far. */
  private pictures = 0;

  static async create(host: HTMLElement): Promise<Scene> {
    const app = new Application();
    const antialias = !isSlowPainter();
    const resolution = antialias ? Math.min(2, window.devicePixelRatio || 1) : 1;
    await app.init({ resizeTo: host, background: INK, antialias, resolution, autoDensity: true, preference: "webgl", autoStart: false });
    host.appendChild(app.canvas);
    return new Scene(app);
  }

  private constructor(app: Application) {
    this.app = app;
    this.quality = new Quality(app);
    this.textures = makeTextures(app.renderer);
    this.ground = new Ground(this.textures);
    this.effects = new Effects(this.textures);
    this.world.addChild(this.ground, this.borders);
    for (const kind of LAYERS) {
      const layer = new Container();
      this.layers.set(kind, this.world.addChild(layer));
      this.pools.set(kind, new Pool(() => layer.addChild(new Actor(kind, this.textures))));
    }
    this.world.addChild(this.effects);
    app.stage.addChild(this.world, this.labels);
    this.resize();
    this.camera.fit();
  }

  /** The corners of the world, and its zones, m. */
  setRegion(corners: [number, number][], zones: Zone[] = []): void {
    this.ground.setRegion(corners);
    this.borders.setZones(corners, zones);
  }

  get hasBorders(): boolean {
    return this.borders.visible;
  }

  set hasBorders(isShown: boolean) {
    this.borders.visible = isShown;
  }

  resize(): void {
    this.app.resize();
    this.camera.resize(this.app.screen.width, this.app.screen.height);
  }

  /** Draws a picture. `now` is the page's own time, `passed` the ms since the last picture. */
  draw({ objects, me, overlays, eye }: Picture, now: number, passed: number): void {
    this.pictures++;
    const taken = this.drawOverlays(overlays, now);
    for (const thing of objects) {
      const drawn = this.drawObject(thing, thing.key === me, now, passed);
      if (drawn === null) continue;
      if (thing.key === me && eye === null) this.camera.follow(drawn.x, drawn.y, passed);
      drawn.actor.alpha = taken.has(thing.key) ? 0.25 : 1;
    }
    if (eye !== null) this.camera.follow(eye.x, eye.y, passed);
    for (const [key, drawn] of this.drawn) if (drawn.picture !== this.pictures) this.drop(key, drawn);
    this.effects.update(passed);
    this.place();
    this.app.render();
    this.quality.tick(now);
  }

  private place(): void {
    const { camera } = this;
    this.ground.update(camera);
    this.world.scale.set(camera.zoom / UNIT);
    this.world.position.set(camera.screenX(0), camera.screenY(0));
    for (const { label, x, y, actor } of this.drawn.values()) {
      if (label === null) continue;
      label.position.set(Math.round(camera.screenX(x)), Math.round(camera.screenY(y + 1.05) - 4));
      label.visible = actor.visible && this.isOnScreen(x, y);
    }
  }

  private isOnScreen(x: number, y: number): boolean {
    const [sx, sy] = [this.camera.screenX(x), this.camera.screenY(y)];
    return -80 < sx && sx < this.camera.width + 80 && -40 < sy && sy < this.camera.height + 80;
  }

  private drawObject(thing: KosmosObject, isMe: boolean, now: number, passed: number): DrawnObject | null {
    const kind = kindOf(thing.shown);
    if (kind === null) return null;
    let drawn = this.drawn.get(thing.key);
    if (drawn !== undefined && drawn.actor.kind !== kind) {
      this.drop(thing.key, drawn); // A nest has hatched.
      drawn = undefined;
    }
    drawn ??= this.begin(thing.key, kind);
    drawn.picture = this.pictures;
    const [x, y] = [thing.track.x / 1000, thing.track.y / 1000];
    if (kind === "rocket") this.smoke(drawn, x, y);
    drawn.x = x;
    drawn.y = y;
    this.notice(thing, drawn);
    drawn.actor.update(thing, isMe, now, passed);
    drawn.label?.update(thing.shown, thing.changes);
    return drawn;
  }

  private begin(key: string, kind: Kind): DrawnObject {
    const actor = (this.pools.get(kind) as Pool<Actor>).take();
    actor.begin();
    const label = kind === "avatar" || kind === "npc" ? this.labelPool.take() : null;
    if (label !== null) this.labels.addChild(label).begin();
    const drawn = { actor, label, health: null, x: 0, y: 0, picture: this.pictures };
    this.drawn.set(key, drawn);
    return drawn;
  }

  private drop(key: string, { actor, label }: DrawnObject): void {
    this.drawn.delete(key);
    actor.visible = false;
    (this.pools.get(actor.kind) as Pool<Actor>).give(actor);
    if (label === null) return;
    label.visible = false;
    this.labelPool.give(label);
  }

  /** An avatar that lost health flashes; one that got it back rises in light. */
  private notice({ shown }: KosmosObject, drawn: DrawnObject): void {
    const person = personOf(shown);
    const health = person?.health ?? (shown.kind === "Npc" ? shown.value.health : null);
    const before = drawn.health;
    drawn.health = health;
    if (before === null || health === null || before === health) return;
    if (health < before) drawn.actor.flash();
    else if (person !== null) this.effects.puff(drawn.x, drawn.y, colourOf(person.name), 20);
  }

  private smoke(drawn: DrawnObject, x: number, y: number): void {
    drawn.actor.travelled += Math.min(4, Math.hypot(x - drawn.x, y - drawn.y));
    for (; 0.55 < drawn.actor.travelled; drawn.actor.travelled -= 0.55) this.effects.trail(x, y);
  }

  /** Draws predicted rockets of unanswered actions; returns the items of unanswered pick-ups. */
  private drawOverlays(overlays: Picture["overlays"], now: number): Set<string> {
    const taken = new Set<string>();
    let used = 0;
    for (const { overlay, asked } of overlays) {
      if (overlay?.kind === "taken") taken.add(overlay.key);
      if (overlay?.kind !== "rocket") continue;
      const rocket = (this.overlayRockets[used] ??= this.overlayRocket());
      used++;
      // Half speed: when the result arrives after a round trip, the true rocket has flown for half of it.
      const way = MUZZLE + ((now - asked) / 1000) * (ROCKET_SPEED / 2);
      rocket.position.set((overlay.x + Math.cos(overlay.angle) * way) * UNIT, -(overlay.y + Math.sin(overlay.angle) * way) * UNIT);
      rocket.rotation = -overlay.angle;
      rocket.visible = true;
    }
    for (let index = used; index < this.overlayRockets.length; index++) (this.overlayRockets[index] as Actor).visible = false;
    return taken;
  }

  private overlayRocket(): Actor {
    const rocket = (this.pools.get("rocket") as Pool<Actor>).take();
    rocket.begin();
    rocket.tint = EMBER;
    return rocket;
  }
}
