/** Counts the readers of a resource, and defers its removal until the last reader has released it. */
export class Pins {
  private readonly readers = new Map<string, number>();
  private readonly removals = new Map<string, () => void>();

  /** Pins a resource. Returns the function that releases it, which must be called once. */
  pin(name: string): () => void {
    this.readers.set(name, (this.readers.get(name) ?? 0) + 1);
    return () => {
      const left = this.readers.get(name)! - 1;
      if (left > 0) this.readers.set(name, left);
      else {
        this.readers.delete(name);
        this.removals.get(name)?.();
        this.removals.delete(name);
      }
    };
  }

  /** Removes a resource at once, or when its last reader has released it. */
  whenFree(name: string, remove: () => void): void {
    if (this.readers.has(name)) this.removals.set(name, remove);
    else remove();
  }
}
