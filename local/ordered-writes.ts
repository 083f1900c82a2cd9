import type { ClassicLevel } from "classic-level";

/** Writes to one database in the order in which they were asked for: LevelDB itself promises no order between writes under way. */
export class OrderedWrites {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly db: ClassicLevel<string, unknown>) {}

  /** Resolves when it is on disk. */
  put(key: string, value: unknown): Promise<void> {
    return this.after(() => this.db.put(key, value));
  }

  del(key: string): Promise<void> {
    return this.after(() => this.db.del(key));
  }

  /** Resolves when all writes until now are through, whatever became of them. */
  async settled(): Promise<void> {
    await this.last.catch(() => undefined);
  }

  private after(write: () => Promise<void>): Promise<void> {
    const run = this.last.catch(() => undefined).then(write);
    this.last = run;
    return run;
  }
}
