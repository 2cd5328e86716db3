// Lists of listeners, one per kind of event.

export class Events<Map extends object> {
  private readonly listeners = new globalThis.Map<keyof Map, Set<(event: never) => void>>();

  /** Adds a listener; the returned function removes it. */
  on<K extends keyof Map>(kind: K, listener: (event: Map[K]) => void): () => void {
    const listeners = this.listeners.get(kind) ?? new Set();
    this.listeners.set(kind, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  emit<K extends keyof Map>(kind: K, event: Map[K]): void {
    this.listeners.get(kind)?.forEach((listener) => (listener as (event: Map[K]) => void)(event));
  }
}
