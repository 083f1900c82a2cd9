import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/ports";

/** The host's notice that this process must end. */
export interface Interruption {
  readonly raised: boolean;
  readonly reason: string | undefined;
  /** The host ends this process at about this time, in milliseconds since the epoch. Undefined after a signal. */
  readonly hostEndsAt: number | undefined;
  /** Calls the listener once it is raised, or now if it was. @returns a function that removes the listener */
  onceRaised(listener: () => void): () => void;
  raise(reason: string, hostEndsAt?: number): void;
}

export function createInterruption(onRaise: (reason: string) => void = () => undefined): Interruption {
  let reason: string | undefined;
  let endsAt: number | undefined;
  const listeners = new Set<() => void>();
  return {
    get raised() {
      return reason !== undefined;
    },
    get reason() {
      return reason;
    },
    get hostEndsAt() {
      return endsAt;
    },
    onceRaised(listener) {
      if (reason !== undefined) listener();
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
    raise(why, hostEndsAt) {
      if (reason !== undefined) {
        // The host no longer waits for its own end: a signal ends this process.
        if (hostEndsAt === undefined) endsAt = undefined;
        return;
      }
      reason = why;
      endsAt = hostEndsAt;
      onRaise(why);
      for (const listener of listeners) listener();
      listeners.clear();
    },
  };
}

/** Raises the interruption on SIGTERM, which Batch sends before it stops a container, and on SIGINT, a user's Ctrl-C. */
export function interruptOnSignals(interruption: Interruption, process: NodeJS.EventEmitter): () => void {
  const handlers = (["SIGTERM", "SIGINT"] as const).map((signal) => {
    const handler = () => interruption.raise(signal);
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const remove of handlers) remove();
  };
}

/** Waits. An interruption ends the wait, and its timer. */
export async function pause(interruption: Interruption, ms: number): Promise<void> {
  const ended = new AbortController();
  const remove = interruption.onceRaised(() => ended.abort());
  await sleep(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  remove();
}

const pollMs = 100;
/** A host that still exists this long after the announced time is not reclaimed. */
const patienceMs = 10 * 60_000;

/** Waits until the host ends this process: after an exit Batch would start it on the same host, as an attempt. */
export async function waitForHostEnd(
  interruption: Interruption,
  clock: Clock,
  sleep: (ms: number) => Promise<unknown>,
): Promise<void> {
  while (interruption.hostEndsAt !== undefined && clock.now() < interruption.hostEndsAt + patienceMs) {
    await sleep(pollMs);
  }
}
