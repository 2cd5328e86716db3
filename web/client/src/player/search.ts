// The state of the search for a replica that lets the player in.

/** Time between two rounds of questions, ms, at first. */
const ASK_EVERY = 100;
/** The longest pause between two rounds, ms, without its random part. */
const ASK_EVERY_MAX = 1_600;
/** Rounds that ask only the home's zone: mostly only a datagram was lost, and there may be hundreds of zones. */
const NARROW_ROUNDS = 4;
/** Rounds after which the pauses grow: nothing answers, or a zone is too busy to. */
const PATIENT_ROUNDS = NARROW_ROUNDS + 4;
/** Rounds after which the player wants to reach hosts that are no contacts. */
const LONG_ROUNDS = NARROW_ROUNDS + 2;

export class Search {
  /** True at the start: a new player has no home. */
  isOn = true;
  /** Time of the last question. */
  asked = 0;
  /** Number of rounds of this search. */
  private rounds = 0;
  /** True once the owner was told of this search. */
  private isTold = false;
  /** Random part of the pause between rounds: players that lost the same home must not all ask at once. */
  private readonly chance: () => number;

  constructor(chance: () => number) {
    this.chance = chance;
  }

  /** The home may be gone: the search starts with its zone. */
  begin(): void {
    if (!this.isOn) [this.isOn, this.rounds] = [true, 0];
  }

  /**
   * The home has transferred the avatar to another zone: the search asks all replicas at once. Returns false if it does already.
   */
  beginWide(): boolean {
    // To start over at each answer of the home would never become a long search.
    const begins = !this.isOn || this.isNarrow;
    if (begins) [this.isOn, this.rounds] = [true, NARROW_ROUNDS];
    return begins;
  }

  /** True the first time per search: then the owner must be told. */
  tell(): boolean {
    const mustTell = !this.isTold;
    this.isTold = true;
    return mustTell;
  }

  /** True if the next round asks only the home's zone. */
  get isNarrow(): boolean {
    return this.rounds < NARROW_ROUNDS;
  }

  /** True if so many rounds were asked that a host which is no contact may have the avatar. */
  get isLong(): boolean {
    return LONG_ROUNDS <= this.rounds;
  }

  /** Counts a round that starts now. Returns the time of the next one. */
  ask(now: number): number {
    this.asked = now;
    this.rounds++;
    return now + this.pause + (this.chance() * this.pause) / 2;
  }

  /** The shortest pause after the last round, ms: it doubles when many rounds were in vain. */
  private get pause(): number {
    const doublings = Math.min(Math.max(this.rounds - PATIENT_ROUNDS, 0), 8);
    return Math.min(ASK_EVERY * 2 ** doublings, ASK_EVERY_MAX);
  }

  end(): void {
    [this.isOn, this.isTold] = [false, false];
  }
}
