// Mouse and fingers on the world itself: aim, fire, select, zoom.

export interface PointerWishes {
  /** The pointer moved to this point, in pixels. */
  aim(x: number, y: number): void;
  /** Pressed at this point. Returns true if an object there was selected: then nothing is fired. */
  press(x: number, y: number, isTouch: boolean): boolean;
  fire(isDown: boolean): void;
  /** The second button, or a long touch, at this point. */
  ask(x: number, y: number): void;
  zoom(factor: number): void;
}

export function listenToPointer(stage: HTMLElement, wishes: PointerWishes): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let spread = 0;
  stage.addEventListener("pointerdown", (event) => {
    // A focused text field gives the keyboard back to the game.
    (document.activeElement as HTMLElement | null)?.blur();
    const isTouch = event.pointerType === "touch";
    if (isTouch) fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (event.button === 2) return;
    wishes.aim(event.clientX, event.clientY);
    if (!wishes.press(event.clientX, event.clientY, isTouch) && !isTouch) wishes.fire(true);
  });
  addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") return wishes.aim(event.clientX, event.clientY);
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const [one, two] = [...fingers.values()];
    if (one === undefined || two === undefined) return;
    const now = Math.hypot(one.x - two.x, one.y - two.y);
    if (0 < spread) wishes.zoom(now / spread);
    spread = now;
  });
  for (const kind of ["pointerup", "pointercancel"] as const) {
    addEventListener(kind, (event) => {
      fingers.delete(event.pointerId);
      spread = 0;
      if (event.pointerType !== "touch") wishes.fire(false);
    });
  }
  stage.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    wishes.ask(event.clientX, event.clientY);
  });
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    wishes.zoom(Math.exp(-event.deltaY / 700));
  }, { passive: false });
}
