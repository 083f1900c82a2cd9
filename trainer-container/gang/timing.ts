/** How long members of a gang wait for each other, in milliseconds. docs/gang.md tabulates the reasons. */
export interface RendezvousTiming {
  /** A member whose lease was not renewed for so long is lost. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /**
   * A member that is training holds its place for so long after its lease lapsed: its event loop may be blocked by a computation,
   * and its peers notice its loss by their sockets anyway. It matters only to outsiders, when a whole generation is gone.
   */
  readonly trainingGraceMs: number;
  /** Last call at the first formation: from the moment that `minWorkers` are there. */
  readonly firstCallMs: number;
  /** Last call at a re-formation, for survivors that have not come back yet. */
  readonly survivorCallMs: number;
  /** The n-th in line seals n times so much later than the first: usually one writes, and if it dies another does. */
  readonly turnMs: number;
  /** Gangs of more expected workers share the store's throughput by turns (see `crowd.ts`). */
  readonly crowdWorkers: number;
}

export const defaultRendezvousTiming: RendezvousTiming = {
  leaseMs: 6_000,
  renewMs: 2_000,
  trainingGraceMs: 14_000,
  firstCallMs: 3_000,
  survivorCallMs: 300,
  turnMs: 150,
  crowdWorkers: 64,
};
