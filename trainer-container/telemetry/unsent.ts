import type { MetricSeries } from "../../core/tracking/metric-batch";

/** Almost half a minute of a fast training's points. A checkpoint that carries them grows by 24 bytes for each. */
const keptPoints = 10_000;

interface Entry {
  readonly points: number;
  readonly gone: Promise<void>;
  /** Undefined: too old to be kept here. It still waits in the outbox. */
  series: readonly MetricSeries[] | undefined;
}

/** Batches that were passed to the sender and are not known to be stored. */
export class Unsent {
  private readonly entries = new Set<Entry>();
  private keptPoints = 0;

  get size(): number {
    return this.entries.size;
  }

  /** @param gone settles once the batch is stored or abandoned */
  add(series: readonly MetricSeries[], gone: Promise<void>): void {
    const points = series.reduce((sum, { steps }) => sum + steps.length, 0);
    const entry: Entry = { points, gone, series };
    this.entries.add(entry);
    this.keptPoints += points;
    for (const old of this.entries) {
      if (this.keptPoints <= keptPoints || old === entry) break;
      this.drop(old);
    }
    void gone.then(() => {
      this.drop(entry);
      this.entries.delete(entry);
    });
  }

  /** Oldest first; of a long outage the newest. */
  get series(): readonly MetricSeries[] {
    return [...this.entries].flatMap(({ series }) => series ?? []);
  }

  /** Resolves when no earlier batch is unsent. */
  async stored(): Promise<void> {
    await Promise.all([...this.entries].map(({ gone }) => gone));
  }

  private drop(entry: Entry): void {
    if (entry.series !== undefined) this.keptPoints -= entry.points;
    entry.series = undefined;
  }
}
