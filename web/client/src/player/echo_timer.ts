// World time, measured by how long the home takes to echo a move.

import { WorldClock } from "../clock.ts";

/** An echo that takes longer is lost. */
const ECHO_MAX = 2_000;

export class EchoTimer {
  readonly clock = new WorldClock();
  /** When the move was sent whose echo tells the time. */
  private timed = 0;
  /** Whether that echo is awaited. */
  private isTiming = false;
  /** How many echoes are under way. */
  private underWay = 0;

  /** Something other than a move was sent that is echoed too. */
  sentOther(): void {
    this.underWay++;
  }

  /**
   * A move is sent. The time until its echo is taken, but not while others are under way, which look the same. Those
   * that are lost are not waited for.
   */
  sentMove(now: number): void {
    if (this.underWay === 0 || ECHO_MAX < now - this.timed) {
      [this.timed, this.isTiming, this.underWay] = [now, true, 0];
    }
    this.underWay++;
  }

  /** An echo came: of the newest move, or of one before. */
  heard(isNewest: boolean, now: number, world: number): void {
    this.underWay = Math.max(0, this.underWay - 1);
    if (!isNewest || !this.isTiming) return;
    this.isTiming = false;
    this.clock.learn(this.timed, now, world);
  }
}
