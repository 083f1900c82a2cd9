/** What a rank is told at first. */
export interface Start {
  readonly rank: number;
  readonly ports: readonly number[];
}

/** One line of JSON. */
export interface Task {
  readonly elements: number;
  /** Milliseconds that the last leaf's backward pass takes, in which its elements become final from the last to the first. */
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
