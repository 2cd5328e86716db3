// The search for a replica that lets the player in: whether it is on, and whom it asks next.

/** How long an answer is waited for before the same is asked again. */
const ASK_EVERY = 100;
/** How often only the home's zone is asked: mostly nothing is wrong but a datagram lost, and there may be hundreds of zones. */
const NARROW_ROUNDS = 4;

export class Search {
  /** A player that starts has no home. */
  isOn = true;
  /** When the last question was asked. */
  asked = 0;
  /** How often this search has asked. */
  private rounds = 0;
  /** Whether the owner knows of it. */
  private isTold = false;
  /** For the pause between two questions: players that lost the same home must not all ask at once. */
  private readonly chance: () => number;

  constructor(chance: () => number) {
    this.chance = chance;
  }

  /** The home may be gone: its zone is asked first. */
  begin(): void {
    if (!this.isOn) [this.isOn, this.rounds] = [true, 0];
  }

  /** The home has handed the avatar over to another zone: all are asked at once. */
  beginWide(): void {
    [this.isOn, this.rounds] = [true, NARROW_ROUNDS];
  }

  /** Whether the owner must be told now: once per search. */
  tell(): boolean {
    const mustTell = !this.isTold;
    this.isTold = true;
    return mustTell;
  }

  /** Whether only the home's zone is asked next. */
  get isNarrow(): boolean {
    return this.rounds < NARROW_ROUNDS;
  }

  /** A question is asked now. Gives when the next one is due. */
  ask(now: number): number {
    this.asked = now;
    this.rounds++;
    return now + ASK_EVERY + (this.chance() * ASK_EVERY) / 2;
  }

  end(): void {
    [this.isOn, this.isTold] = [false, false];
  }
}
