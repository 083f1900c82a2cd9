import type { Clock } from "../../core/ports";
import type { MachineRecord, RecoveryRecord } from "../../core/runs/run";
import type { MetricBatch, MetricSeries, TrainingProgress } from "../../core/tracking/metric-batch";
import type { Courier } from "./courier";
import { PointBuffer } from "./point-buffer";
import { Unsent } from "./unsent";
import { within } from "./within";

export interface Telemetry {
  /** A point that every rank computes alike. Only the leader sends it; the others keep the last ones in case they become leader. */
  shared(metric: string, step: number, value: number): void;
  /** A point of this worker alone. */
  own(metric: string, step: number, value: number): void;
  /** Sent by the leader, with the next batch, as it is then. */
  progress(read: () => TrainingProgress): void;
  /** What this process runs on. */
  machine(machine: MachineRecord): void;
  /** The gang goes on after a loss. */
  recovered(recovery: RecoveryRecord): void;
  /** Of the generation that has begun. A new leader sends again what the old one may have taken with it. */
  lead(leader: boolean): void;
  /** Sends what this rank has kept although it does not lead: the leader was not there when those steps were finished. */
  handOver(): void;
  /**
   * Points up to that step which are not known to be stored. A checkpoint carries them: nobody computes the steps before it again, so that points
   * which die with this process would be missing for good. Of a long outage, the newest.
   */
  unsent(finishedSteps: number): readonly MetricSeries[];
  /** Points that a checkpoint carried, to be sent as if they had been recorded now. */
  resume(series: readonly MetricSeries[]): void;
  /** Resolves when all points so far are stored, or after `patienceMs`. Before the result is made visible: nobody goes on from there. */
  settled(patienceMs: number): Promise<void>;
  /** Sends what there is, within `patienceMs`. */
  close(patienceMs: number): Promise<void>;
}

const flushMs = 500;
const pointsABatch = 5_000;
/** Points a metric that a rank keeps although it is not the leader. */
const keptPoints = 2_000;

/** Batches points each half second. Recording never waits, nor does it encode or send: that is the courier's. */
export function createTelemetry(runId: string, courier: Courier, clock: Clock): Telemetry {
  const mine = new PointBuffer();
  const everyones = new PointBuffer();
  const unsent = new Unsent();
  let waitingProgress: (() => TrainingProgress) | undefined;
  let waitingRecords: Pick<MetricBatch, "machine" | "recoveries"> | undefined;
  let leading = false;
  // What the last leader may not have sent. It is dropped once it is older than any outage that a leader survives alone.
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
      unsent.add(series, courier.post(batch));
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
      if (leading && !leader) flush(); // the next leader may not have been there for all of it
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
      await courier.close(patienceMs);
    },
  };
}

/** Where metrics go nowhere: training does not depend on them. */
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

/** By the store's rule. Names are few, and come back at each step. */
function fitting(metric: string): string {
  let name = fittingNames.get(metric);
  if (name === undefined) {
    name = metric.replace(/[^\w./-]+/g, "_").slice(0, 200);
    fittingNames.set(metric, name);
  }
  return name;
}

/** Steps ascend. */
function upTo({ metric, steps, values, times }: MetricSeries, finishedSteps: number): readonly MetricSeries[] {
  const later = steps.findIndex((step) => step > finishedSteps);
  const count = later === -1 ? steps.length : later;
  if (count === 0) return [];
  return [{ metric, steps: steps.slice(0, count), values: values.slice(0, count), times: times.slice(0, count) }];
}
