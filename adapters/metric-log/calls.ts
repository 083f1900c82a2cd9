import type { BatchReceipt, MetricSeries } from "../../core/tracking/metric-store";
import { type LogHead, LogState, logLimits } from "./log-state";
import { appendTo, type LogBatch, noPoints } from "./packed-points";

/** Points of a batch, which stays below 400 KB: about 10 bytes per point and 1,000 per name. */
const maxPoints = 16_384;
const maxNames = 256;

/** A call that appends points. Its parts are written in order, and the receipt is in the last one. */
export interface Call {
  readonly receipt?: BatchReceipt | undefined;
  /** A part could not be written. The others are then not written either: the receipt would confirm all of them. */
  failed?: boolean;
}

export interface CallPart<C extends Call = Call> {
  readonly series: readonly MetricSeries[];
  readonly points: number;
  readonly call: C;
  readonly isLast: boolean;
}

export function partsOf<C extends Call>(series: readonly MetricSeries[], call: C): CallPart<C>[] {
  const parts = [{ series: [] as MetricSeries[], points: 0, nameLength: 0 }];
  for (const one of series) {
    for (let from = 0; from < one.steps.length; ) {
      let part = parts.at(-1)!;
      // A long name may be a new one.
      const namesFull = part.series.length >= maxNames && part.nameLength > maxNames * 250;
      if (part.points >= maxPoints || part.series.length >= maxNames * 4 || namesFull) {
        part = { series: [], points: 0, nameLength: 0 };
        parts.push(part);
      }
      const to = Math.min(one.steps.length, from + maxPoints - part.points);
      part.series.push(slice(one, from, to));
      part.points += to - from;
      part.nameLength += one.metric.length;
      from = to;
    }
  }
  return parts.map(({ series, points }, i) => ({ series, points, call, isLast: i === parts.length - 1 }));
}

function slice(series: MetricSeries, from: number, to: number): MetricSeries {
  const { metric, steps, values, times } = series;
  if (from === 0 && to === steps.length) return series;
  return { metric, steps: steps.slice(from, to), values: values.slice(from, to), times: times.slice(from, to) };
}

/** Takes the parts for one batch from the front of a queue. The parts of failed calls are dropped. */
export function takeParts<C extends Call>(queue: CallPart<C>[]): CallPart<C>[] {
  const taken: CallPart<C>[] = [];
  let points = 0;
  while (queue.length > 0) {
    const next = queue[0]!;
    if (next.call.failed !== true) {
      if (taken.length > 0 && (points + next.points > maxPoints || taken.length >= maxNames)) break;
      taken.push(next);
      points += next.points;
    }
    queue.shift();
  }
  return taken;
}

/** Builds one batch of several calls. Calls whose receipts the log has are omitted and added to `duplicates`. */
export function draftBatch<C extends Call>(
  log: Pick<LogState, "idOf" | "isStored" | "metrics">,
  parts: readonly CallPart<C>[],
  duplicates: Set<C>,
): LogBatch | undefined {
  const newIds = new Map<string, number>();
  const receipts = new Map<string, BatchReceipt>();
  const points = noPoints();
  duplicates.clear();
  for (const { series, call, isLast } of parts) {
    const { receipt } = call;
    if (receipt) {
      const key = `${receipt.sequence} ${receipt.writer}`;
      if (log.isStored(receipt.writer, receipt.sequence) || receipts.has(key)) {
        duplicates.add(call);
        continue;
      }
      if (isLast) receipts.set(key, receipt);
    }
    for (const { metric, steps, values, times } of series) {
      const id = log.idOf(metric) ?? newIds.get(metric) ?? log.metrics + newIds.size;
      if (id >= log.metrics) newIds.set(metric, id);
      points.ids.push(id);
      points.counts.push(steps.length);
      appendTo(points.steps, steps);
      appendTo(points.times, times);
      appendTo(points.values, values);
    }
  }
  if (points.steps.length + receipts.size === 0) return undefined;
  return { names: [...newIds.keys()], receipts: [...receipts.values()], points };
}

/**
 * Builds the head of a new run's log, so that a run is created with its first points; `undefined` if they do not fit.
 */
export function firstHead(series: readonly MetricSeries[], receipt: BatchReceipt): LogHead | undefined {
  const parts = partsOf(series, { receipt });
  const state = new LogState(undefined, logLimits);
  const batch = parts.length === 1 ? draftBatch(state, parts, new Set()) : undefined;
  if (!batch) return undefined;
  state.applyInline(batch);
  const head = state.takeHead(false);
  return head.state.length + head.inline.length > logLimits.inlineBytes ? undefined : head;
}
