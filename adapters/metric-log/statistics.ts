import type { MetricSummary } from "../../core/tracking/metric-store";
import type { ByteReader, ByteWriter } from "./bytes";
import { comparePoints, eachSeries, type NumberedPoints } from "./packed-points";

/** Per metric, by its number: name, number of points, latest, minimum and maximum. */
export class Statistics {
  readonly names: string[] = [];
  private readonly ids = new Map<string, number>();
  private readonly counts: number[] = [];
  private readonly steps: number[] = [];
  private readonly times: number[] = [];
  private readonly lasts: number[] = [];
  private readonly mins: number[] = [];
  private readonly maxs: number[] = [];

  idOf(name: string): number | undefined {
    return this.ids.get(name);
  }

  addName(name: string): void {
    this.ids.set(name, this.names.length);
    this.names.push(name);
    this.counts.push(0);
    this.steps.push(0);
    this.times.push(0);
    this.lasts.push(0);
    this.mins.push(Number.NaN);
    this.maxs.push(Number.NaN);
  }

  add(points: NumberedPoints): void {
    const { steps, times, values } = points;
    eachSeries(points, (id, from, to) => {
      for (let i = from; i < to; i += 1) {
        const value = values[i]!;
        const first = this.counts[id] === 0;
        if (first || this.isLater(id, steps[i]!, times[i]!, value)) {
          this.steps[id] = steps[i]!;
          this.times[id] = times[i]!;
          this.lasts[id] = value;
        }
        this.counts[id]! += 1;
        // Comparisons with NaN are false.
        if (!(value >= this.mins[id]!) && !Number.isNaN(value)) this.mins[id] = value;
        if (!(value <= this.maxs[id]!) && !Number.isNaN(value)) this.maxs[id] = value;
      }
    });
  }

  private isLater(id: number, step: number, time: number, value: number): boolean {
    if (step !== this.steps[id]!) return step > this.steps[id]!;
    return comparePoints({ step, time, value }, { step, time: this.times[id]!, value: this.lasts[id]! }) > 0;
  }

  /** Lists summaries by name. Metrics without points are omitted. */
  summaries(): MetricSummary[] {
    return this.names
      .map((metric, id) => ({ metric, id }))
      .filter(({ id }) => this.counts[id]! > 0)
      .sort((a, b) => (a.metric < b.metric ? -1 : 1))
      .map(({ metric, id }) => ({
        metric,
        last: this.lasts[id]!,
        lastStep: this.steps[id]!,
        lastTime: this.times[id]!,
        min: this.mins[id]!,
        max: this.maxs[id]!,
      }));
  }

  /** Names of a run often share a prefix, usually with the previous name. */
  write(out: ByteWriter): void {
    out.count(this.names.length);
    this.names.forEach((name, i) => {
      const shared = i === 0 ? 0 : commonLength(this.names[i - 1]!, name);
      out.count(shared);
      out.text(name.slice(shared));
    });
    for (const column of [this.counts, this.steps, this.times]) out.column(column);
    for (const column of [this.lasts, this.mins, this.maxs]) out.floats(column);
  }

  static read(from: ByteReader): Statistics {
    const all = new Statistics();
    const length = from.count();
    for (let i = 0; i < length; i += 1) {
      const shared = from.count();
      all.addName((all.names.at(-1) ?? "").slice(0, shared) + from.text());
    }
    for (const column of [all.counts, all.steps, all.times]) replace(column, from.column(length));
    for (const column of [all.lasts, all.mins, all.maxs]) replace(column, from.floats(length));
    return all;
  }
}

function replace(column: number[], values: readonly number[]): void {
  for (let i = 0; i < values.length; i += 1) column[i] = values[i]!;
}

/** In UTF-16 units. Never splits a surrogate pair, whose halves cannot be written alone. */
function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  const unit = a.charCodeAt(length - 1);
  return length > 0 && unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length;
}
