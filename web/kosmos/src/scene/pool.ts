// A pool of reusable values: making and destroying hundreds of sprites would make the game stutter.

export class Pool<T> {
  private readonly idle: T[] = [];
  private readonly make: () => T;

  constructor(make: () => T) {
    this.make = make;
  }

  take(): T {
    return this.idle.pop() ?? this.make();
  }

  give(it: T): void {
    this.idle.push(it);
  }
}
