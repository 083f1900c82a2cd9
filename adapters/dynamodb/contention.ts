import { setTimeout as sleep } from "node:timers/promises";
import { createPause } from "../../core/backoff";

/** Waits before the next round of an optimistic write, or before a retry of a request. */
export const pauseBeforeRound = createPause({ firstMs: 10, maxMs: 2_000 }, sleep, Math.random);
