export interface CollectiveTiming {
  /** From the sealed list to all connections. */
  readonly connectMs: number;
  /** A peer that sends neither data nor heartbeats for this long is lost: it is stopped, or its network is down. */
  readonly silenceMs: number;
  /** A peer that is alive but owes data for this long is lost: its training loop hangs. */
  readonly progressMs: number;
}

export const defaultCollectiveTiming: CollectiveTiming = {
  connectMs: 5_000,
  silenceMs: 10_000,
  progressMs: 600_000,
};

/** Missed heartbeats after which a peer is silent. */
export const heartbeatsPerSilence = 5;
/** Checks per silence deadline. */
export const looksPerSilence = 20;
