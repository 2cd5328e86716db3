// Draws with fewer pixels on slow computers: a smooth picture matters more than a sharp one.

import type { Application } from "pixi.js";

const LOOK_EVERY = 1_500;
/** Below this many frames per second the resolution is reduced. */
const FPS_MIN = 32;
const STEPS = [2, 1.5, 1];

/** True if the processor draws, without a graphics card: then every pixel is expensive. */
export function isSlowPainter(): boolean {
  const context = document.createElement("canvas").getContext("webgl");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = names ? context?.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(String(name));
}

export class Quality {
  private readonly app: Application;
  private since: number | null = null;
  private frames = 0;

  constructor(app: Application) {
    this.app = app;
  }

  tick(now: number): void {
    this.since ??= now;
    this.frames++;
    if (now - this.since < LOOK_EVERY) return;
    const fps = (this.frames * 1000) / (now - this.since);
    this.since = now;
    this.frames = 0;
    // The frame rate after a hidden page says nothing about the computer.
    if (fps < 2 || FPS_MIN <= fps) return;
    const { renderer, screen } = this.app;
    const next = STEPS.find((step) => step < renderer.resolution);
    if (next !== undefined) renderer.resize(screen.width, screen.height, next);
  }
}
