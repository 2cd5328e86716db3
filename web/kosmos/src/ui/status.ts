// The status panel (F3): numbers for curious players.

import type { Kosmos } from "../game/kosmos.ts";
import { $ } from "./dom.ts";

const EVERY = 500;

export class StatusPanel {
  private readonly panel = $("status");
  private readonly text = $("status-text");
  private readonly borders = $<HTMLInputElement>("borders");
  private last = { at: 0, in: 0, out: 0 };
  private frames = 0;
  fps = 0;

  toggle(): void {
    this.panel.hidden = !this.panel.hidden;
  }

  /** The box shows or hides the borders of zones. */
  onBorders(wish: (isShown: boolean) => void): void {
    this.borders.onchange = () => {
      wish(this.borders.checked);
      this.borders.blur(); // With the focus on the box, the space bar would tick it instead of firing.
    };
  }

  showBorders(isShown: boolean): void {
    this.borders.checked = isShown;
  }

  /** Counts a frame; writes the numbers now and then. */
  tick(world: Kosmos, now: number, playersInSight: number): void {
    this.frames++;
    const span = now - this.last.at;
    if (span < EVERY) return;
    const { bytesIn, bytesOut, ping, transport, host, zone, epoch, hosts, state } = world.status();
    const rate = (bytes: number): string => `${(bytes / span).toFixed(1)} kB/s`;
    this.fps = Math.round((this.frames * 1000) / span);
    const lines: [string, string][] = [
      ["state", state],
      ["ping", ping === null ? "–" : `${ping.toFixed(0)} ms`],
      ["in", rate(bytesIn - this.last.in)],
      ["out", rate(bytesOut - this.last.out)],
      ["transport", transport ?? "–"],
      ["host", `${host ?? "–"} of ${hosts.filter((it) => it.isUp).map((it) => it.host).join(" ") || "–"}`],
      ["zone", `${zone ?? "–"} of ${world.info.zones.length}`],
      ["epoch", String(epoch)],
      ["fps", String(this.fps)],
      ["in sight", `${playersInSight} players, ${world.objects.size} objects`],
    ];
    if (!this.panel.hidden) this.text.textContent = lines.map(([name, value]) => `${name.padEnd(10)}${value}`).join("\n");
    this.last = { at: now, in: bytesIn, out: bytesOut };
    this.frames = 0;
  }
}
