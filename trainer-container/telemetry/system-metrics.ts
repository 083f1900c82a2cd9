export interface SystemReading {
  /** Milliseconds, monotonic. */
  readonly at: number;
  /** Microseconds of processor time, user and system. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
  readonly finishedSteps: number;
  /** Rate of the training, see `Rate`. */
  readonly samplesPerSecond: number;
  readonly dataWaitMs: number;
  readonly communicationMs: number;
}

/** Computes a worker's load between two readings, by metric name under `system/worker-<index>/`. */
export function systemMetrics(before: SystemReading, after: SystemReading): Readonly<Record<string, number>> {
  const elapsed = Math.max(1, after.at - before.at);
  const share = (ms: number) => Math.min(1, Math.max(0, ms / elapsed));
  return {
    /** Number of busy cores. */
    cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / 1000 / elapsed,
    rss: after.rssBytes,
    "samples-per-second": after.samplesPerSecond,
    "data-wait-share": share(after.dataWaitMs - before.dataWaitMs),
    "communication-share": share(after.communicationMs - before.communicationMs),
  };
}
