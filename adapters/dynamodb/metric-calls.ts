import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt } from "../../core/tracking/metric-store";
import { appendTo, type LogBatch, noPoints } from "../metric-log/packed-points";
import type { LogCopy } from "./metric-log-copy";

/**
 * The maximum number of points in a batch. With about 10 bytes per point and 1,000 per name, a batch stays below 400
 * KB.
 */
const maxPoints = 16_384;
const maxNames = 256;

/**
 * A part of a call that fits in a batch. The parts of a call are written in order, and the receipt is in the last one.
 */
export interface CallPart {
  readonly series: readonly MetricSeries[];
  readonly points: number;
  readonly call: Call;
  readonly isLast: boolean;
}

export interface Call {
  readonly receipt: BatchReceipt | undefined;
  readonly settle: (duplicate: boolean) => void;
  readonly fail: (error: unknown) => void;
  /**
   * Whether a part could not be written. The remaining parts are then not written either, because the receipt would
   * confirm all of them.
   */
  failed: boolean;
}

export function partsOf(series: readonly MetricSeries[], call: Call): CallPart[] {
  const parts: Filling[] = [{ series: [], points: 0, nameLength: 0 }];
  for (const one of series) {
    for (let from = 0; from < one.steps.length; ) {
      let part = parts.at(-1)!;
      if (part.points >= maxPoints || part.series.length >= maxNames * 4 || namesFull(part)) {
        part = { series: [], points: 0, nameLength: 0 };
        parts.push(part);
      }
      const to = Math.min(one.steps.length, from + maxPoints - part.points);
      part.series.push(from === 0 && to === one.steps.length ? one : slice(one, from, to));
      part.points += to - from;
      part.nameLength += one.metric.length;
      from = to;
    }
  }
  return parts.map(({ series, points }, i) => ({ series, points, call, isLast: i === parts.length - 1 }));
}

interface Filling {
  readonly series: MetricSeries[];
  points: number;
  nameLength: number;
}

/** Returns whether the names of a batch are full. A long name may be a new one. */
function namesFull({ series, nameLength }: Filling): boolean {
  return series.length >= maxNames && nameLength > maxNames * 250;
}

function slice({ metric, steps, values, times }: MetricSeries, from: number, to: number): MetricSeries {
  return { metric, steps: steps.slice(from, to), values: values.slice(from, to), times: times.slice(from, to) };
}

/** Takes the parts for one batch from the front of a queue. The parts of failed calls are dropped. */
export function takeParts(queue: CallPart[]): CallPart[] {
  const taken: CallPart[] = [];
  let points = 0;
  while (queue.length > 0) {
    const next = queue[0]!;
    if (!next.call.failed) {
      if (taken.length > 0 && (points + next.points > maxPoints || taken.length >= maxNames)) break;
      taken.push(next);
      points += next.points;
    }
    queue.shift();
  }
  return taken;
}

/**
 * Builds one batch from the parts of several calls, without the points that the log already has. Those are added to
 * `duplicates`.
 */
export function draftBatch(
  log: Pick<LogCopy, "idOf" | "isStored" | "metrics">,
  parts: readonly CallPart[],
  duplicates: Set<Call>,
): LogBatch | undefined {
  const names: string[] = [];
  const newIds = new Map<string, number>();
  const receipts: BatchReceipt[] = [];
  const points = noPoints();
  const seen = new Set<string>();
  duplicates.clear();
  for (const { series, call, isLast } of parts) {
    const { receipt } = call;
    if (receipt) {
      const key = `${receipt.sequence} ${receipt.writer}`;
      if (log.isStored(receipt.writer, receipt.sequence) || seen.has(key)) {
        duplicates.add(call);
        continue;
      }
      if (isLast) {
        receipts.push(receipt);
        seen.add(key);
      }
    }
    for (const { metric, steps, values, times } of series) {
      let id = log.idOf(metric) ?? newIds.get(metric);
      if (id === undefined) {
        id = log.metrics + names.length;
        newIds.set(metric, id);
        names.push(metric);
      }
      points.ids.push(id);
      points.counts.push(steps.length);
      appendTo(points.steps, steps);
      appendTo(points.times, times);
      appendTo(points.values, values);
    }
  }
  return points.steps.length + receipts.length === 0 ? undefined : { names, receipts, points };
}
