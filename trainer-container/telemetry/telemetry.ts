/** Metric points on their way to the sender: waiting, sent, and not yet known to be stored. */

import type { Clock } from "../../core/ports";
import type { TrainingProgress } from "../../core/runs/progress";
import type { MachineRecord, RecoveryRecord } from "../../core/runs/shapes";
import type { MetricBatch, MetricSeries } from "../../core/tracking/metric-store";
import type { Sender } from "./send-queue";
import { within } from "./within";

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
      const at = columns.steps.findIndex((later) => later > step);
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

/** Almost half a minute of a fast training's points. A checkpoint that carries them grows by 24 bytes for each. */
const maxUnsentPoints = 10_000;

interface Entry {
  readonly points: number;
  readonly gone: Promise<void>;
  /** Undefined: too old to be kept here. It still waits in the queue. */
  series: readonly MetricSeries[] | undefined;
}

/** Batches that were passed to the sender and are not known to be stored. */
class Unsent {
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
      if (this.keptPoints <= maxUnsentPoints || old === entry) break;
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

export interface Telemetry {
  /** Records a point that every rank computes alike. Only the leader sends it; the others keep recent ones as standbys. */
  shared(metric: string, step: number, value: number): void;
  /** Records a point of this worker only. */
  own(metric: string, step: number, value: number): void;
  /** The leader sends it with the next batch, with the values at that time. */
  progress(read: () => TrainingProgress): void;
  machine(machine: MachineRecord): void;
  /** Records that the gang continues after a loss. */
  recovered(recovery: RecoveryRecord): void;
  /** Sets whether this rank leads the generation that has begun. A new leader repeats what the old one may not have sent. */
  lead(leader: boolean): void;
  /** Sends the points that this rank has kept as a standby, for steps that the leader did not finish. */
  handOver(): void;
  /**
   * Points up to a step not known to be stored, the newest of many. Checkpoints carry them: their steps are not
   * repeated.
   */
  unsent(finishedSteps: number): readonly MetricSeries[];
  /** Sends points that a checkpoint carried, as if they had been recorded now. */
  resume(series: readonly MetricSeries[]): void;
  /** Resolves when all points so far are stored, or after `patienceMs`. Awaited before the result becomes visible. */
  settled(patienceMs: number): Promise<void>;
  /** Sends the remaining points, within `patienceMs`. */
  close(patienceMs: number): Promise<void>;
}

/** Default interval between batches. */
const defaultFlushMs = 500;
/** About the points that the store writes in one call. */
const pointsABatch = 16_000;
/** Points per metric that a rank keeps as a standby. */
const keptPoints = 2_000;

/** Batches points at an interval. Recording never waits, encodes or sends: the sender does that. */
export function createTelemetry(runId: string, sender: Sender, clock: Clock, flushMs = defaultFlushMs): Telemetry {
  const mine = new PointBuffer();
  /** Points of a standby that the leader may not have sent. Dropped once older than any outage that a leader survives alone. */
  const everyones = new PointBuffer();
  const unsent = new Unsent();
  let waitingProgress: (() => TrainingProgress) | undefined;
  let waitingRecords: Pick<MetricBatch, "machine" | "recoveries"> | undefined;
  let leading = false;
  const timer = setInterval(flush, flushMs);
  timer.unref();

  function flush(): void {
    if (!leading) everyones.trim(keptPoints);
    send(leading);
  }

  function send(shared: boolean): void {
    while (
      mine.size > 0 ||
      (shared && everyones.size > 0) ||
      (leading && waitingProgress !== undefined) ||
      waitingRecords
    ) {
      const series = [...mine.take(pointsABatch), ...(shared ? everyones.take(pointsABatch) : [])];
      const batch: MetricBatch = {
        runId,
        series,
        ...(leading && waitingProgress ? { progress: waitingProgress() } : {}),
        ...waitingRecords,
      };
      waitingProgress = undefined;
      waitingRecords = undefined;
      unsent.add(series, sender.post(batch));
    }
  }

  return {
    shared: (metric, step, value) => everyones.add(fitting(metric), step, value, clock.now()),
    own: (metric, step, value) => mine.add(fitting(metric), step, value, clock.now()),
    progress(read) {
      waitingProgress = read;
    },
    machine(machine) {
      waitingRecords = { ...waitingRecords, machine };
    },
    recovered(recovery) {
      waitingRecords = { ...waitingRecords, recoveries: [...(waitingRecords?.recoveries ?? []), recovery] };
    },
    lead(leader) {
      if (leading && !leader) flush(); // the next leader may have been absent for some of it
      leading = leader;
    },
    handOver: () => send(true),
    unsent: (finishedSteps) =>
      [...unsent.series, ...mine.points(), ...everyones.points()].flatMap((one) => upTo(one, finishedSteps)),
    resume(series) {
      for (const { metric, steps, values, times } of series) {
        steps.forEach((step, i) => {
          everyones.add(metric, step, values[i]!, times[i]!);
        });
      }
    },
    async settled(patienceMs) {
      flush();
      if (unsent.size > 0) await within(patienceMs, unsent.stored());
    },
    async close(patienceMs) {
      clearInterval(timer);
      flush();
      await sender.close(patienceMs);
    },
  };
}

/** Drops metrics: training does not depend on them. */
export const noTelemetry: Telemetry = {
  shared: () => undefined,
  own: () => undefined,
  progress: () => undefined,
  machine: () => undefined,
  recovered: () => undefined,
  lead: () => undefined,
  handOver: () => undefined,
  unsent: () => [],
  resume: () => undefined,
  settled: async () => undefined,
  close: async () => undefined,
};

const fittingNames = new Map<string, string>();

/** Applies the store's rule for names. Names are few and repeat at each step. */
function fitting(metric: string): string {
  let name = fittingNames.get(metric);
  if (name === undefined) {
    name = metric.replace(/[^\w./-]+/g, "_").slice(0, 200);
    fittingNames.set(metric, name);
  }
  return name;
}

/** Returns the points up to a step; steps ascend. */
function upTo({ metric, steps, values, times }: MetricSeries, finishedSteps: number): readonly MetricSeries[] {
  const later = steps.findIndex((step) => step > finishedSteps);
  const count = later === -1 ? steps.length : later;
  if (count === 0) return [];
  return [{ metric, steps: steps.slice(0, count), values: values.slice(0, count), times: times.slice(0, count) }];
}
