import { durationMs, type FeaturePlan, type StepOf } from "../feature-plans/shapes";
import { windowName } from "../feature-plans/time-steps";
import type { FoundRows, Labels, ViewRows } from "./replay";
import { sharedNumbers, sharedPlaces } from "./shared-arrays";

/** An aggregate of an entity's rows whose event time is at most `overMs` before the time of a read, and not after it. */
export interface Window {
  /** Name by which the steps of the plan read it. */
  readonly name: string;
  /** Index of its column in `ViewWindows.columns`. */
  readonly column: number;
  readonly aggregate: StepOf<"window">["aggregate"];
  readonly overMs: number;
}

/** The windows of a view, as plain data. */
export interface ViewWindows {
  readonly all: readonly Window[];
  /** The columns that windows aggregate, in ascending order. */
  readonly columns: readonly string[];
  readonly maxOverMs: number;
}

/** Returns the windows of a view; `undefined` without any. */
export function windowsIn({ steps }: FeaturePlan): ViewWindows | undefined {
  const windows = steps.filter((step) => step.kind === "window");
  if (windows.length === 0) return undefined;
  const columns = [...new Set(windows.map(({ column }) => column))].sort();
  const all = windows.map((step): Window => {
    const { column, aggregate, over } = step;
    return { name: windowName(step), column: columns.indexOf(column), aggregate, overMs: durationMs(over) };
  });
  return { all, columns, maxOverMs: Math.max(...all.map(({ overMs }) => overMs)) };
}

/**
 * An aggregate of numbers that are added one by one. Both stores add the latest row first, so that sums have the same
 * bits.
 */
class Aggregate {
  private count = 0;
  private sum = 0;
  private minimum = Number.POSITIVE_INFINITY;
  private maximum = Number.NEGATIVE_INFINITY;

  constructor(private readonly kind: Window["aggregate"]) {}

  reset(): void {
    this.count = 0;
    this.sum = 0;
    this.minimum = Number.POSITIVE_INFINITY;
    this.maximum = Number.NEGATIVE_INFINITY;
  }

  /** Adds a number; one that is missing or infinite does not count. */
  add(value: number): void {
    if (!Number.isFinite(value)) return;
    this.count += 1;
    this.sum += value;
    if (value < this.minimum) this.minimum = value;
    if (value > this.maximum) this.maximum = value;
  }

  /** Returns NaN for a missing value: that of no numbers, except their count. */
  value(): number {
    if (this.kind === "count") return this.count;
    if (this.count === 0) return Number.NaN;
    return this.kind === "mean" ? this.sum / this.count : this[this.kind];
  }
}

/** A row of an entity that windows aggregate, as the online store has it. */
export interface WindowRow {
  /** Identifies the entity: `entityKey`. */
  readonly key: string;
  /** `orderOf` of the row. */
  readonly order: string;
  /** Milliseconds since the epoch. */
  readonly eventTime: number;
  /** Numbers of `ViewWindows.columns`; null for one that is missing or infinite. */
  readonly values: readonly (number | null)[];
}

/** Returns the windows of an entity at a time by name, null for a missing value. @param rows the latest first */
export function aggregateRows(
  { all }: ViewWindows,
  rows: readonly Pick<WindowRow, "eventTime" | "values">[],
  at: number,
): Readonly<Record<string, number | null>> {
  return Object.fromEntries(
    all.map(({ name, column, aggregate: kind, overMs }) => {
      const aggregate = new Aggregate(kind);
      for (const { eventTime, values } of rows) {
        if (eventTime >= at - overMs) aggregate.add(values[column] ?? Number.NaN);
      }
      const value = aggregate.value();
      return [name, Number.isNaN(value) ? null : value];
    }),
  );
}

/** Fields of a row before its values: entity, event time, creation time, arrival. */
const rowFields = 4;

/** Collects the rows of a view that labels may aggregate, and finds the windows of each label. */
export class WindowReplay {
  private readonly stride: number;
  private rows: Float64Array;
  private count = 0;

  constructor(private readonly windows: ViewWindows) {
    this.stride = rowFields + windows.columns.length;
    this.rows = new Float64Array(this.stride << 10);
  }

  /** Adds rows, in any order. @param values numbers of `ViewWindows.columns`, one row after another */
  add(
    {
      count,
      entities,
      eventTimes,
      creationTimes = eventTimes,
      arrivals,
    }: ViewRows & { readonly arrivals: Float64Array },
    values: Float64Array,
  ): void {
    const { stride } = this;
    const width = stride - rowFields;
    while ((this.count + count) * stride > this.rows.length) {
      const larger = new Float64Array(2 * this.rows.length);
      larger.set(this.rows);
      this.rows = larger;
    }
    for (let row = 0; row < count; row += 1) {
      if (entities[row]! < 0) continue;
      let at = this.count * stride;
      this.rows[at++] = entities[row]!;
      this.rows[at++] = eventTimes[row]!;
      this.rows[at++] = creationTimes[row]!;
      this.rows[at++] = arrivals[row]!;
      for (let k = 0; k < width; k += 1) this.rows[at++] = values[row * width + k]!;
      this.count += 1;
    }
  }

  /** Returns what the labels have found, with the windows of each as further values. A label without a row has none. */
  extend(found: FoundRows, { entities, times, places, entityCount }: Labels): FoundRows {
    const { rows, stride } = this;
    const { all, maxOverMs } = this.windows;
    const { order, starts } = this.byEntity(entityCount);
    const ends = starts.slice(0, entityCount);
    const aggregates = all.map(({ aggregate }) => new Aggregate(aggregate));
    const width = found.width + all.length;
    const values = sharedNumbers(times.length * width).fill(Number.NaN);
    const placesOfValues = sharedPlaces(times.length);
    for (let label = 0; label < times.length; label += 1) {
      const [entity, time, place] = [entities[label]!, times[label]!, places[label]!];
      const row = found.rows[place]!;
      placesOfValues[place] = place;
      for (let k = 0; k < found.width; k += 1) values[place * width + k] = found.values[row * found.width + k]!;
      if (row === 0 || entity < 0) continue;
      // Labels come in the order of their times.
      let end = ends[entity]!;
      while (end < starts[entity + 1]! && rows[order[end]! * stride + 1]! <= time) end += 1;
      ends[entity] = end;
      for (const aggregate of aggregates) aggregate.reset();
      for (let at = end - 1; at >= starts[entity]!; at -= 1) {
        const first = order[at]! * stride;
        const event = rows[first + 1]!;
        if (event < time - maxOverMs) break;
        if (rows[first + 2]! > time) continue;
        for (const [index, { column, overMs }] of all.entries()) {
          if (event >= time - overMs) aggregates[index]!.add(rows[first + rowFields + column]!);
        }
      }
      for (const [index, aggregate] of aggregates.entries()) {
        values[place * width + found.width + index] = aggregate.value();
      }
    }
    return { width, values, rows: placesOfValues };
  }

  /** Returns the rows' places by entity and in the order of `orderOf`, and where those of each entity start. */
  private byEntity(entityCount: number) {
    const { rows, stride, count } = this;
    const starts = new Int32Array(entityCount + 1);
    for (let row = 0; row < count; row += 1) starts[rows[row * stride]! + 1]! += 1;
    for (let entity = 0; entity < entityCount; entity += 1) starts[entity + 1]! += starts[entity]!;
    const next = starts.slice();
    const order = new Int32Array(count);
    for (let row = 0; row < count; row += 1) {
      const entity = rows[row * stride]!;
      order[next[entity]!] = row;
      next[entity]! += 1;
    }
    const compare = (one: number, other: number) => {
      const [a, b] = [one * stride, other * stride];
      return rows[a + 1]! - rows[b + 1]! || rows[a + 2]! - rows[b + 2]! || rows[a + 3]! - rows[b + 3]!;
    };
    for (let entity = 0; entity < entityCount; entity += 1) {
      const own = order.subarray(starts[entity]!, starts[entity + 1]!);
      if (own.some((row, at) => at > 0 && compare(own[at - 1]!, row) > 0)) own.sort(compare);
    }
    return { order, starts };
  }
}
