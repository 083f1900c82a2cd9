import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt } from "../../core/tracking/metric-store";
import { draftBatch, partsOf } from "./metric-calls";
import { logLimits } from "./metric-log";
import { LogCopy } from "./metric-log-copy";
import { youngHeadItem } from "./metric-rows";
import type { Item } from "./table";

/**
 * Builds the head of a new run's log as the first `append` would leave it, so that a run is created together with its
 * first points. Returns `undefined` if the points do not fit in a head.
 */
export function firstHead(runId: string, series: readonly MetricSeries[], receipt: BatchReceipt): Item | undefined {
  const parts = partsOf(series, { receipt, settle: () => undefined, fail: () => undefined, failed: false });
  const copy = new LogCopy(undefined, logLimits.segment);
  const batch = parts.length === 1 ? draftBatch(copy, parts, new Set()) : undefined;
  if (!batch) return undefined;
  copy.applyYoung(batch);
  const head = copy.takeYoungHead();
  if (head.state.length + head.inline.length > logLimits.youngBytes) return undefined;
  return youngHeadItem(runId, head, false);
}
