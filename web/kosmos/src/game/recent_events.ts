// The latest notices and results, for tests and curious players: see `window.kosmos`.

import type { Action, KosmosResult, Notice } from "./kosmos.ts";

const KEPT = 200;

export interface Answered {
  action: Action;
  answer: KosmosResult;
}

export class RecentEvents {
  readonly notices: Notice[] = [];
  readonly answers: Answered[] = [];

  noticed(notice: Notice): void {
    keep(this.notices, notice);
  }

  answered(action: Action, answer: KosmosResult): void {
    keep(this.answers, { action, answer });
  }
}

function keep<T>(list: T[], one: T): void {
  list.push(one);
  if (KEPT < list.length) list.shift();
}
