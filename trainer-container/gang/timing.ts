/** Waits of a gang's members for each other, in milliseconds. docs/gang.md has the reasons. */
export interface RendezvousTiming {
  /** A member whose lease was not renewed for this long is lost. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /**
   * A training member keeps its place for this long after its lease expired: a computation may block its event loop, and
   * its peers notice a loss by their sockets anyway. Only outsiders need it, when a whole generation is gone.
   */
  readonly trainingGraceMs: number;
  /** Last call at the first formation, from the time that `minWorkers` are present. */
  readonly firstCallMs: number;
  /** Last call at a re-formation, for survivors that have not come back yet. */
  readonly survivorCallMs: number;
  /** The n-th member in line seals n times this much later than the first. Usually one writes; if it dies, another does. */
  readonly turnMs: number;
  /** Gangs with more expected workers share the store's throughput by turns (see `large-gang.ts`). */
  readonly largeGangWorkers: number;
}

export const defaultRendezvousTiming: RendezvousTiming = {
  leaseMs: 6_000,
  renewMs: 2_000,
  trainingGraceMs: 14_000,
  firstCallMs: 3_000,
  survivorCallMs: 300,
  turnMs: 150,
  largeGangWorkers: 64,
};
