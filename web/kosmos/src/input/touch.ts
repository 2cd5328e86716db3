// Touch input: a stick to walk with, a pad to aim and fire with.

/** Dead zone of a stick, as a part of its full way. */
const DEAD = 0.18;
/** Number of directions of a stick, so that a trembling thumb does not send a new velocity each time. */
const DIRECTIONS = 24;

export interface TouchWishes {
  walk(x: number, y: number): void;
  /** Null when the pad is released. */
  shoot(angle: number | null): void;
}

export function isTouchDevice(): boolean {
  return matchMedia("(pointer: coarse)").matches || (navigator.maxTouchPoints > 0 && !matchMedia("(hover: hover)").matches);
}

export function listenToSticks(stick: HTMLElement, pad: HTMLElement, wishes: TouchWishes): void {
  drag(stick, (x, y, isHeld) => {
    const reach = Math.hypot(x, y);
    if (!isHeld || reach < DEAD) return wishes.walk(0, 0);
    const angle = (Math.round((Math.atan2(y, x) / (2 * Math.PI)) * DIRECTIONS) / DIRECTIONS) * 2 * Math.PI;
    const pace = 0.75 < reach ? 1 : 0.55;
    wishes.walk(Math.cos(angle) * pace, Math.sin(angle) * pace);
  });
  drag(pad, (x, y, isHeld) => wishes.shoot(isHeld && DEAD < Math.hypot(x, y) ? Math.atan2(y, x) : null));
}

/** Reports the position of a finger on a round pad: from -1 to 1, up is positive. */
function drag(pad: HTMLElement, move: (x: number, y: number, isHeld: boolean) => void): void {
  const knob = pad.firstElementChild as HTMLElement;
  const follow = (event: PointerEvent): void => {
    const box = pad.getBoundingClientRect();
    const half = box.width / 2;
    let [x, y] = [(event.clientX - box.left - half) / half, (box.top + half - event.clientY) / half];
    const reach = Math.max(1, Math.hypot(x, y));
    [x, y] = [x / reach, y / reach];
    knob.style.transform = `translate(${x * half * 0.62}px, ${-y * half * 0.62}px)`;
    move(x, y, true);
  };
  pad.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    pad.setPointerCapture(event.pointerId);
    follow(event);
  });
  pad.addEventListener("pointermove", (event) => {
    if (pad.hasPointerCapture(event.pointerId)) follow(event);
  });
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
    pad.addEventListener(kind, () => {
      knob.style.transform = "";
      move(0, 0, false);
    });
  }
}
