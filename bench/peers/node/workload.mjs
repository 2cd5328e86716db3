// The workload of `../workload`, for the systems on Node: the same world, walkers, interest and records.

export const MOVES_PER_SECOND = 10;

/** Mean number of others that each client should see. */
export const VISIBLE = 22;

/** View distance of each client, in metres. */
export const VIEW = 60;

/** Speed of an avatar, in metres per second. */
export const SPEED = 5.9;

export const MOVE_BYTES = 12;
export const PING_BYTES = 4;
export const UPDATE_BYTES = 14;

/** Largest distance to a walker's next goal along each axis, in metres. */
const STRETCH = 30;

/** Distance from the world's edge that goals keep, in metres. */
const MARGIN = 5;

/** Times per second that a server looks for the avatars that each client sees. */
const LOOKS_PER_SECOND = 4;

const f32 = Math.fround;

/** The present in tenths of a millisecond of CLOCK_MONOTONIC, which processes of one computer share. 0 is never. */
export function stamp() {
  const [seconds, nanoseconds] = process.hrtime();
  return (seconds * 10_000 + Math.floor(nanoseconds / 100_000)) % 2 ** 32;
}

/** Tenths of a millisecond between two stamps. */
export function since(now, earlier) {
  return (now - earlier) >>> 0;
}

/** Half the side of the square world, in metres, in which each client sees VISIBLE others; `half` of the workload in Rust. */
export function half(clients) {
  for (let half = VIEW / 2; ; half++) {
    const part = VIEW / (2 * half);
    const near = Math.PI * part ** 2 - (8 / 3) * part ** 3 + part ** 4 / 2;
    if ((clients - 1) * near <= VISIBLE) return half;
  }
}

/** An avatar that walks from goal to goal; it takes the same steps as the walker in Rust. */
export class Walker {
  constructor(client, half) {
    this.half = half;
    this.random = Math.max(Math.imul(client + 1, 2_654_435_761) >>> 0, 1);
    for (let i = 0; i < 8; i++) this.draw();
    this.x = f32(this.draw() * half);
    this.y = f32(this.draw() * half);
    this.chooseGoal();
  }

  /** A random number from -1 to 1. */
  draw() {
    this.random ^= this.random << 13;
    this.random ^= this.random >>> 17;
    this.random ^= this.random << 5;
    this.random >>>= 0;
    return f32(this.random / 2 ** 31 - 1);
  }

  chooseGoal() {
    const room = this.half - MARGIN;
    const near = (at) => Math.min(Math.max(f32(at + f32(this.draw() * STRETCH)), -room), room);
    this.goalX = near(this.x);
    this.goalY = near(this.y);
  }

  /** Walks for the time between two moves. */
  step() {
    const dx = f32(this.goalX - this.x);
    const dy = f32(this.goalY - this.y);
    const distance = f32(Math.hypot(dx, dy));
    const stride = f32(f32(SPEED) / MOVES_PER_SECOND);
    if (distance <= stride) {
      this.x = this.goalX;
      this.y = this.goalY;
      this.chooseGoal();
    } else {
      this.x = f32(this.x + f32(f32(dx / distance) * stride));
      this.y = f32(this.y + f32(f32(dy / distance) * stride));
    }
  }
}

/** All avatars, and the avatars that each client sees, found through a grid of cells as wide as clients see. */
export class World {
  constructor(clients, ticksPerSecond) {
    this.half = half(clients);
    this.columns = Math.floor((2 * this.half) / VIEW) + 1;
    this.cells = Array.from({ length: this.columns ** 2 }, () => []);
    this.x = new Float32Array(clients);
    this.y = new Float32Array(clients);
    this.at = new Uint32Array(clients);
    /** 1 for each avatar that moved since the last tick. */
    this.moved = new Uint8Array(clients);
    /** Numbers of the avatars in the world. */
    this.present = [];
    /** Numbers of the avatars that each client sees, in ascending order. */
    this.visible = Array.from({ length: clients }, () => []);
    this.ticks = 0;
    this.lookEvery = Math.max(Math.floor(ticksPerSecond / LOOKS_PER_SECOND), 1);
  }

  /** An avatar moves; the first move brings it into the world. A number that no client has is ignored. */
  accept(client, x, y, at) {
    if (!(client < this.at.length)) return;
    if (this.at[client] === 0) this.present.push(client);
    this.x[client] = x;
    this.y[client] = y;
    this.at[client] = at;
    this.moved[client] = 1;
  }

  /** A tick begins. `changed` is called with a client, an avatar, and whether the client sees it from now on. */
  look(changed = () => {}) {
    if (this.ticks++ % this.lookEvery !== 0) return;
    for (const cell of this.cells) cell.length = 0;
    for (const number of this.present) {
      this.cells[this.column(this.y[number]) * this.columns + this.column(this.x[number])].push(number);
    }
    for (const number of this.present) {
      const before = this.visible[number];
      const now = this.around(number).sort((a, b) => a - b);
      this.visible[number] = now;
      eachDifference(before, now, (avatar, sees) => changed(number, avatar, sees));
    }
  }

  /** A tick ends: all clients were told. */
  endTick() {
    this.moved.fill(0);
  }

  column(at) {
    return Math.min(Math.floor((at + this.half) / VIEW), this.columns - 1);
  }

  around(number) {
    const [x, y, found] = [this.x[number], this.y[number], []];
    const [column, row, last] = [this.column(x), this.column(y), this.columns - 1];
    for (let r = Math.max(row - 1, 0); r <= Math.min(row + 1, last); r++) {
      for (let c = Math.max(column - 1, 0); c <= Math.min(column + 1, last); c++) {
        for (const other of this.cells[r * this.columns + c]) {
          const [dx, dy] = [this.x[other] - x, this.y[other] - y];
          if (other !== number && dx * dx + dy * dy <= VIEW * VIEW) found.push(other);
        }
      }
    }
    return found;
  }
}

/** Calls `changed` for each number that only one of two ascending lists has: true if it is the second. */
function eachDifference(before, now, changed) {
  let [a, b] = [0, 0];
  while (a < before.length || b < now.length) {
    if (b === now.length || before[a] < now[b]) changed(before[a++], false);
    else if (a === before.length || now[b] < before[a]) changed(now[b++], true);
    else [a, b] = [a + 1, b + 1];
  }
}
