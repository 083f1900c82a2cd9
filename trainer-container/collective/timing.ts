/** Every wait of the collective has a deadline; docs/gang.md tabulates them. */
export interface CollectiveTiming {
  /** From the sealed list to all connections up. */
  readonly connectMs: number;
  /** A peer that sends neither data nor pulses for so long is lost: stopped, or its network is gone. */
  readonly silenceMs: number;
  /** A peer that lives, but owes data for so long, is lost: its training loop hangs. */
  readonly progressMs: number;
}

export const defaultCollectiveTiming: CollectiveTiming = {
  connectMs: 5_000,
  silenceMs: 10_000,
  progressMs: 600_000,
};

/** Pulses a peer misses before it is silent. */
export const pulsesPerSilence = 5;
/** How finely the deadline is told. */
export const looksPerSilence = 20;
