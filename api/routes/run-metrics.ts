import type { TeamScope } from "../../adapters/port";
import { runNotFound } from "../../core/runs/errors";
import type { Run } from "../../core/runs/shapes";
import { beginning, decodeCursor, followRun } from "../../core/tracking/follow";
import type { MetricStore } from "../../core/tracking/metric-store";
import { getTrainingRunMetrics } from "../contracts/training-runs";
import { eventStream } from "../http/event-stream";
import { type CallOf, defineReplyRoute } from "../http/route";

/** API Gateway and AWS Lambda end a stream after 15 minutes. The stream ends itself earlier, between two events. */
const maxStreamMs = 14 * 60_000;

interface MetricPorts extends TeamScope {
  readonly metrics: MetricStore;
  readonly runs: { find(runId: string): Promise<Run | undefined> };
}

/**
 * Returns a run's metrics as JSON or, for callers that accept `text/event-stream`, as events that follow the run until
 * it ends.
 */
export const metricsRoute = defineReplyRoute(
  getTrainingRunMetrics,
  async (call: CallOf<typeof getTrainingRunMetrics, MetricPorts>) => {
    const { platform, params, query, headers, context } = call;
    const { metrics, runs, clock, logger } = platform;
    const { runId } = params;
    const { metric, ...view } = query;
    if (!(await runs.find(runId))) throw runNotFound(runId, "training");

    if (takesEvents(context.req.header("accept"))) {
      const lastId = headers["last-event-id"];
      const from = lastId === undefined || lastId === "" ? beginning : decodeCursor(lastId);
      // A browser reconnects after every stream; only this status makes it stop.
      if (from.ended) return { response: new Response(null, { status: 204 }) };
      const until = clock.now() + maxStreamMs;
      const response = eventStream(logger, (connection) =>
        followRun(
          { findRun: () => runs.find(runId), metrics, clock, sleep: connection.sleep },
          { runId, from, until, isGone: connection.isGone, metric },
        ),
      );
      return { response };
    }

    if (metric === undefined) {
      return { status: 200, body: { metrics: await metrics.summaries(runId) } };
    }
    const { points: most = Number.MAX_SAFE_INTEGER, ...range } = view;
    return { status: 200, body: { metric, ...(await metrics.downsample(runId, metric, most, range)) } };
  },
);

function takesEvents(accept = ""): boolean {
  return accept.split(",").some((type) => /^\s*text\/event-stream\s*(;|$)/i.test(type));
}
