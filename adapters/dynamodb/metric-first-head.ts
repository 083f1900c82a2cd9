import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt } from "../../core/tracking/metric-store";
import { LogState } from "../metric-log/log-state";
import { addPoints, noPoints, packPoints } from "../metric-log/packed-points";
import { draftBatch, partsOf } from "./metric-calls";
import { logLimits } from "./metric-log";
import { pkOf } from "./metric-rows";

/** The properties of an empty log that a batch depends on. */
const emptyLog = { idOf: () => undefined, isStored: () => false, metrics: 0 };

/**
 * Builds the head of a new run's log as the first `append` would leave it, so that a run is created together with its
 * first points. Returns `undefined` if the points do not fit in a head.
 */
export function firstHead(
  runId: string,
  series: readonly MetricSeries[],
  receipt: BatchReceipt,
): Record<string, unknown> | undefined {
  const call = { receipt, settle: () => undefined, fail: () => undefined, failed: false };
  const parts = partsOf(series, call);
  const batch = parts.length === 1 ? draftBatch(emptyLog, parts, new Set()) : undefined;
  if (!batch) return undefined;
  const log = LogState.empty(logLimits.segment);
  log.apply(batch);
  const points = noPoints();
  addPoints(points, batch.points);
  const [state, inline] = [log.pack(), packPoints(points)];
  if (state.length + inline.length > logLimits.youngBytes) return undefined;
  return {
    pk: pkOf(runId),
    sk: "HEAD",
    version: log.version,
    grown: false,
    state,
    inline,
    folded: 0,
    foldedVersion: 0,
  };
}
