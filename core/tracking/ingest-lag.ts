import type { Meter } from "../metering/meter";
import type { MetricSeries } from "./metric-batch";

/** Number of values in one line of the log. More values become another line; fewer would cost more to store. */
const valuesALine = 100;
const lineEveryMs = 10_000;

/**
 * Measures how long points take to be stored. Values are collected over many batches, because two lines a second for
 * each run would cost too much.
 */
export class IngestLag {
  private values: number[] = [];
  private firstAt = 0;

  constructor(private readonly meter: Meter) {}

  /** Adds a stored batch. Values that are collected when the process ends are lost. */
  stored(series: readonly MetricSeries[], now: number): void {
    const newest = Math.max(...series.flatMap(({ times }) => times.at(-1) ?? []));
    if (!Number.isFinite(newest)) return;
    if (this.values.length === 0) this.firstAt = now;
    this.values.push(Math.max(0, now - newest) / 1000);
    if (this.values.length < valuesALine && now - this.firstAt < lineEveryMs) return;
    this.meter.emit({ MetricIngestLag: this.values });
    this.values = [];
  }
}
