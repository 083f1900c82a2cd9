/** A rank's task, as one line of JSON. `gloo.py` reads the same. */
export interface Task {
  readonly elements: number;
  readonly warmUps: number;
  readonly iterations: number;
}

export interface Measured {
  /** Time of each iteration. */
  readonly micros: readonly number[];
  /** User and system time of the process in one iteration, all threads. */
  readonly cpuMicros: number;
  /** Written to sockets in one iteration, headers included. */
  readonly bytes?: number;
}

/** The first message of one of our ranks, and of the other ranks to it. Without `incarnation` they are dialled over TCP. */
export interface RankAddress {
  readonly port: number;
  readonly incarnation?: string;
}
