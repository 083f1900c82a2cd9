export type Mode = "replicated" | "sharded";

export interface Setup {
  readonly mode: Mode;
  readonly parameters: number;
  readonly microshards: number;
}

export interface Start {
  readonly rank: number;
  readonly ports: readonly number[];
}

export interface Task {
  readonly steps: number;
}

export interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Bytes of the optimizer's slots on this rank. */
  readonly slotBytes: number;
  readonly rssBytes: number;
  readonly bytesSent: number;
  /** Changes with any bit of the weights. */
  readonly checksum: number;
}
