import type { Meter } from "../metering/meter";
import type { MetricSeries } from "./metric-batch";

/** Values of one line of the log: more are another line, fewer cost more to keep. */
const valuesALine = 100;
const lineEveryMs = 10_000;

/** How long points take to be stored, collected over many batches: two lines a second of each run would cost more than they tell. */
export class IngestLag {
  private values: number[] = [];
  private firstAt = 0;

  constructor(private readonly meter: Meter) {}

  /** A batch has been stored. What is collected when the process ends is lost, and may be. */
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
