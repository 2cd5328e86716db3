// Measures world time by the round trip of a move to the home and its echo.

import { WorldClock } from "../clock.ts";

/** An echo that takes longer counts as lost, ms. */
const ECHO_MAX = 2_000;

export class EchoTimer {
  readonly clock = new WorldClock();
  /** Sending time of the move whose echo is measured. */
  private timed = 0;
  /** True while that echo has not arrived. */
  private isTiming = false;
  /** Number of echoes under way. */
  private underWay = 0;

  /** An action was sent: the zone echoes its motion, too. */
  sentOther(): void {
    this.underWay++;
  }

  /**
   * A move is sent. Its round trip is measured, unless other echoes are under way, which look the same. Echoes that take
   * longer than ECHO_MAX are given up.
   */
  sentMove(now: number): void {
    if (this.underWay === 0 || ECHO_MAX < now - this.timed) {
      [this.timed, this.isTiming, this.underWay] = [now, true, 0];
    }
    this.underWay++;
  }

  /** An echo arrived: of the newest move, or of an earlier one. */
  heard(isNewest: boolean, now: number, world: number): void {
    this.underWay = Math.max(0, this.underWay - 1);
    if (!isNewest || !this.isTiming) return;
    this.isTiming = false;
    this.clock.learn(this.timed, now, world);
  }
}
