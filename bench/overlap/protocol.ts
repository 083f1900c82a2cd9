/** The first message to a rank. */
export interface Start {
  readonly rank: number;
  readonly ports: readonly number[];
}

/** A task: one line of JSON. */
export interface Task {
  readonly elements: number;
  /** Duration of the last leaf's backward pass in milliseconds. Its elements become final from the last to the first. */
  readonly backwardMs: number;
  readonly overlap: boolean;
  readonly warmUps: number;
  readonly iterations: number;
}

export interface Measured {
  /** Milliseconds from the end of the backward pass to the sum, of each iteration. */
  readonly exposedMs: readonly number[];
  /** Milliseconds of the whole step. */
  readonly stepMs: readonly number[];
}
