import type { MetricSeries } from "../../core/tracking/metric-batch";

interface Columns {
  readonly steps: number[];
  readonly values: number[];
  readonly times: number[];
}

/** Points that wait to be sent, as columns per metric. */
export class PointBuffer {
  private series = new Map<string, Columns>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(metric: string, step: number, value: number, time: number): void {
    let columns = this.series.get(metric);
    if (columns === undefined) {
      columns = { steps: [], values: [], times: [] };
      this.series.set(metric, columns);
    }
    const last = columns.steps.at(-1);
    if (last !== undefined && step <= last) {
      // A repeated validation after a loss, or a repeated step: steps ascend, and the value is the same.
      if (columns.steps.includes(step)) return;
      const at = columns.steps.findIndex((known) => known > step);
      columns.steps.splice(at, 0, step);
      columns.values.splice(at, 0, value);
      columns.times.splice(at, 0, time);
    } else {
      columns.steps.push(step);
      columns.values.push(value);
      columns.times.push(time);
    }
    this.count += 1;
  }

  /** Returns a copy of all waiting points. */
  points(): readonly MetricSeries[] {
    return [...this.series].map(([metric, { steps, values, times }]) => ({
      metric,
      steps: [...steps],
      values: [...values],
      times: [...times],
    }));
  }

  /** Removes and returns the points, at most `limit` of them. */
  take(limit: number): readonly MetricSeries[] {
    const taken: MetricSeries[] = [];
    let room = limit;
    for (const [metric, columns] of this.series) {
      if (room === 0) break;
      const points = Math.min(room, columns.steps.length);
      const values = columns.values.splice(0, points);
      taken.push({ metric, steps: columns.steps.splice(0, points), values, times: columns.times.splice(0, points) });
      room -= points;
      if (columns.steps.length === 0) this.series.delete(metric);
    }
    this.count -= limit - room;
    return taken;
  }

  /** Drops all but the newest `keep` points of each metric. */
  trim(keep: number): void {
    for (const columns of this.series.values()) {
      const excess = columns.steps.length - keep;
      if (excess <= 0) continue;
      for (const column of [columns.steps, columns.values, columns.times]) column.splice(0, excess);
      this.count -= excess;
    }
  }
}
