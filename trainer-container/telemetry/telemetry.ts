import type { Clock } from "../../core/ports";
import type { TrainingProgress } from "../../core/tracking/metric-batch";
import type { Outbox } from "./outbox";
import { PointBuffer } from "./point-buffer";

export interface Telemetry {
  /** A point that every rank computes alike. Only the leader sends it; the others keep the last ones in case they become leader. */
  shared(metric: string, step: number, value: number): void;
  /** A point of this worker alone. */
  own(metric: string, step: number, value: number): void;
  /** Sent by the leader; a later one replaces one that waits. */
  progress(progress: TrainingProgress): void;
  /** Of the generation that has begun. A new leader sends again what the old one may have taken with it. */
  lead(leader: boolean): void;
  /** Sends what this rank has kept although it does not lead: the leader was not there when those steps were finished. */
  handOver(): void;
  /**
   * Resolves when all points so far are stored, or after `patienceMs`. Before a checkpoint or a result is made visible: nobody computes the steps
   * before it again, so that points which die with this process would be missing for good.
   */
  settled(patienceMs: number): Promise<void>;
  /** Sends what there is, within `patienceMs`. */
  close(patienceMs: number): Promise<void>;
}

const flushMs = 500;
const pointsABatch = 5_000;
/** Points a metric that a rank keeps although it is not the leader. */
const keptPoints = 2_000;

/** Batches points each half second. Recording never waits; the outbox does the sending. */
export function createTelemetry(runId: string, outbox: Outbox, clock: Clock): Telemetry {
  const mine = new PointBuffer();
  const everyones = new PointBuffer();
  let waitingProgress: TrainingProgress | undefined;
  let leading = false;
  // What the last leader may not have sent. It is dropped once it is older than any outage that a leader survives alone.
  const timer = setInterval(flush, flushMs);
  timer.unref();

  function flush(): void {
    if (!leading) everyones.trim(keptPoints);
    send(leading);
  }

  function send(shared: boolean): void {
    while (mine.size > 0 || (shared && everyones.size > 0) || (leading && waitingProgress !== undefined)) {
      const series = [...mine.take(pointsABatch), ...(shared ? everyones.take(pointsABatch) : [])];
      outbox.post({ runId, series, ...(leading && waitingProgress ? { progress: waitingProgress } : {}) });
      waitingProgress = undefined;
    }
  }

  const fitting = (metric: string) => metric.replace(/[^\w./-]+/g, "_").slice(0, 200);

  return {
    shared: (metric, step, value) => everyones.add(fitting(metric), step, value, clock.now()),
    own: (metric, step, value) => mine.add(fitting(metric), step, value, clock.now()),
    progress(progress) {
      waitingProgress = progress;
    },
    lead(leader) {
      if (leading && !leader) flush(); // the next leader may not have been there for all of it
      leading = leader;
    },
    handOver: () => send(true),
    settled(patienceMs) {
      flush();
      return outbox.settled(patienceMs);
    },
    async close(patienceMs) {
      clearInterval(timer);
      flush();
      await outbox.close(patienceMs);
    },
  };
}
