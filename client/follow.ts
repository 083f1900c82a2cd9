import { createParser } from "eventsource-parser";
import type { FollowEvent } from "../core/tracking/follow";
import { ApiUnreachableError, isRetryable, pauseBefore, type RetryOptions } from "./errors";

export interface ServerEvent {
  readonly event: string;
  /** The id of the latest event that had one. */
  readonly id: string | undefined;
  readonly data: string;
}

/** Parses server-sent events (html.spec.whatwg.org), without comments and an event that the stream's end cuts off. */
export async function* parseEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  const parsed: ServerEvent[] = [];
  let latest: string | undefined;
  const parser = createParser({
    onEvent({ event = "message", id, data }) {
      latest = id ?? latest;
      parsed.push({ event, id: latest, data });
    },
  });
  for await (const chunk of bytes) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* parsed.splice(0);
  }
}

/** Time after which a silent connection counts as dead. The API sends something at least every 15 s. */
const silenceMs = 45_000;

/** An event for a follower: the API's events without heartbeats. */
export type RunEvent = Exclude<FollowEvent, { readonly event: "heartbeat" }>;

export interface FollowConnection {
  readonly baseUrl: string;
  /**
   * Opens a stream that continues after an event; 204 if there is nothing more. @throws ApiError, ApiUnreachableError
   */
  readonly connect: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  readonly retry: RetryOptions;
}

/**
 * Follows a run until `end`, each point once; breaking out closes the connection. @throws ApiError, ApiUnreachableError
 */
export async function* follow({
  baseUrl,
  connect,
  retry,
}: FollowConnection): AsyncGenerator<RunEvent, void, undefined> {
  let lastEventId: string | undefined;
  let failures = 0;
  for (;;) {
    const silence = new SilenceTimer(silenceMs);
    let heard = false;
    try {
      const response = await connect(lastEventId, silence.signal);
      if (response.status === 204 || response.body === null) return;
      for await (const { event, id, data } of parseEvents(silence.watch(response.body))) {
        heard = true;
        failures = 0;
        lastEventId = id ?? lastEventId;
        yield { event, id, data: JSON.parse(data) } as RunEvent;
        if (event === "end") return;
      }
      if (!heard) throw new ApiUnreachableError(baseUrl, new Error("the stream ended without an event"));
    } catch (cause) {
      const error =
        cause instanceof TypeError || silence.signal.aborted ? new ApiUnreachableError(baseUrl, cause) : cause;
      failures += 1;
      if (failures >= retry.attempts || !isRetryable(error, true)) throw error;
      await retry.sleep(pauseBefore(failures, error, retry));
    } finally {
      silence.stop();
    }
  }
}

/** Aborts after a silence. Uses only timers and streams that browsers have. */
class SilenceTimer {
  private readonly controller = new AbortController();
  private readonly milliseconds: number;
  private timer: ReturnType<typeof setTimeout>;

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
    this.timer = this.wait();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  async *watch(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(this.timer);
        this.timer = this.wait();
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  /** Stops the timer, and the connection if it is still open. */
  stop(): void {
    clearTimeout(this.timer);
    this.controller.abort();
  }

  private wait(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.controller.abort(), this.milliseconds);
  }
}
