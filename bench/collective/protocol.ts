/** What a rank is asked to do, as one line of JSON; `gloo.py` understands the same. */
export interface Task {
  readonly elements: number;
  readonly warmUps: number;
  readonly iterations: number;
}

export interface Measured {
  /** Of each iteration. */
  readonly micros: readonly number[];
  /** User and system time of the process in one iteration, all threads. */
  readonly cpuMicros: number;
  /** Written to sockets in one iteration, headers included. */
  readonly bytes?: number;
}

/** What a rank of ours says at first, and is told of the others; without `incarnation` they are dialled over TCP. */
export interface RankAddress {
  readonly port: number;
  readonly incarnation?: string;
}
