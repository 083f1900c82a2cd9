import { setTimeout as pause } from "node:timers/promises";
import type { TeamScope } from "../../adapters/port";
import { toJson } from "../../core/json-text";
import type { Logger } from "../../core/logging";
import { runNotFound } from "../../core/runs/errors";
import type { Run } from "../../core/runs/shapes";
import { beginning, decodeCursor, type FollowEvent, followRun } from "../../core/tracking/follow";
import type { MetricStore } from "../../core/tracking/metric-store";
import { type CallOf, defineReplyRoute } from "../http/route";
import { getTrainingRunMetrics } from "../operations/training-runs";

/** Tells a client how long to wait before it reconnects. Sent once at the start. */
const streamStart = "retry: 2000\n\n";

/** Formats an event as text/event-stream (HTML standard, 9.2). JSON has no line breaks, so data always has one line. */
export function eventText(event: FollowEvent): string {
  if (event.event === "heartbeat") return ": heartbeat\n\n";
  const id = "id" in event ? `id: ${event.id}\n` : "";
  return `${id}event: ${event.event}\ndata: ${toJson(event.data)}\n\n`;
}

export interface Connection {
  readonly isGone: () => boolean;
  /** Resolves early if the follower disconnects. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * The next event is requested after the previous one was sent, so nothing accumulates. An error ends the stream, and
 * the follower reconnects.
 */
export function eventStream(logger: Logger, open: (connection: Connection) => AsyncGenerator<FollowEvent>): Response {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  const events = open({
    isGone: () => gone.signal.aborted,
    sleep: (ms) => pause(ms, undefined, { signal: gone.signal }).catch(() => undefined),
  });
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode(streamStart)),
      async pull(controller) {
        try {
          const { value, done } = await events.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(eventText(value)));
        } catch (error) {
          if (gone.signal.aborted) return;
          logger.log("error", "an event stream was interrupted", { error });
          controller.close();
        }
      },
      async cancel() {
        gone.abort();
        await events.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      // Disables buffering in proxies such as nginx.
      "x-accel-buffering": "no",
    },
  });
}

/** API Gateway and AWS Lambda end a stream after 15 minutes. The stream ends itself earlier, between two events. */
const maxStreamMs = 14 * 60_000;

interface MetricPorts extends TeamScope {
  readonly metrics: MetricStore;
  readonly runs: { find(runId: string): Promise<Run | undefined> };
}

/** Metrics as JSON or, for callers that accept `text/event-stream`, as events that follow the run until it ends. */
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
