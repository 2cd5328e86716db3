// The page's elements by name, and small ones made by hand.

export function $<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element called ${id}`);
  return found as T;
}

type Child = Node | string;

/** Makes an element; texts are texts, never markup. */
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
