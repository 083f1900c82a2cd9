import { setTimeout as pause } from "node:timers/promises";
import { toJson } from "../../core/json-text";
import type { Logger } from "../../core/logging";
import type { FollowEvent } from "../../core/tracking/follow";

/** Tells a client how long to wait before it reconnects. Sent once at the start. */
const streamStart = "retry: 2000\n\n";

/** Formats an event as text/event-stream (HTML standard, 9.2). JSON has no line breaks, so data always has one line. */
export function eventText(event: FollowEvent): string {
  if (event.event === "heartbeat") return ": heartbeat\n\n";
  const id = "id" in event ? `id: ${event.id}\n` : "";
  return `${id}event: ${event.event}\ndata: ${toJson(event.data)}\n\n`;
}

/** The connection to the follower. */
export interface Connection {
  readonly isGone: () => boolean;
  /** Resolves early if the follower disconnects. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Sends events as a `text/event-stream` response. The next event is requested after the previous one was sent: a slow
 * reader slows down the reads of the store, and nothing accumulates in memory. An error ends the stream, and the
 * follower reconnects with its last id.
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
