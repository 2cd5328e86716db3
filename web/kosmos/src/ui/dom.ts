// Access to the page's elements by id, and a helper that makes new ones.

export function $<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element called ${id}`);
  return found as T;
}

type Child = Node | string;

/** Makes an element; strings become text, never markup, because they may come from players. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Removes an element after a while. */
export function vanish(element: HTMLElement, after: number): void {
  setTimeout(() => element.remove(), after);
}
