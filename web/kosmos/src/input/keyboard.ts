// Keys by their position on the keyboard, not by letter, so that WASD is a cross on every layout.

export interface KeyWishes {
  walk(x: number, y: number): void;
  fire(isDown: boolean): void;
  take(): void;
  drop(): void;
  trade(): void;
  talk(): void;
  borders(): void;
  status(): void;
  escape(): void;
}

const WAYS: Record<string, [number, number]> = {
  KeyW: [0, 1],
  KeyS: [0, -1],
  KeyA: [-1, 0],
  KeyD: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/** Listens until `signal` aborts. */
export function listenToKeys(wishes: KeyWishes, signal: AbortSignal): void {
  const held = new Set<string>();
  const walk = (): void => {
    let [x, y] = [0, 0];
    for (const code of held) {
      const [dx, dy] = WAYS[code] ?? [0, 0];
      x += dx;
      y += dy;
    }
    wishes.walk(Math.sign(x), Math.sign(y));
  };
  const letGo = (): void => {
    if (held.size === 0) return;
    held.clear();
    walk();
    wishes.fire(false);
  };
  const once: Record<string, () => void> = {
    KeyE: () => wishes.take(),
    KeyQ: () => wishes.drop(),
    KeyT: () => wishes.trade(),
    KeyB: () => wishes.borders(),
    Enter: () => wishes.talk(),
    F3: () => wishes.status(),
    Escape: () => wishes.escape(),
  };
  const down = (event: KeyboardEvent): void => {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const { code } = event;
    const action = once[code];
    if (code in WAYS || code === "Space" || action !== undefined) event.preventDefault();
    if (event.repeat) return;
    action?.();
    if (code === "Space") wishes.fire(true);
    if (code in WAYS) {
      held.add(code);
      walk();
    }
  };
  const up = ({ code }: KeyboardEvent): void => {
    if (code === "Space") wishes.fire(false);
    if (held.delete(code)) walk();
  };
  addEventListener("keydown", down, { signal });
  addEventListener("keyup", up, { signal });
  // A window that loses the focus gets no event for a released key.
  addEventListener("blur", letGo, { signal });
  addEventListener("focusin", (event) => event.target instanceof HTMLInputElement && letGo(), { signal });
}

function isTyping({ target, code }: KeyboardEvent): boolean {
  return target instanceof HTMLInputElement && code !== "Escape" && code !== "F3";
}
