export interface TrainerTask {
  readonly endpoint: string;
  readonly bucket: string;
  /** Milliseconds of computation between the writes to the state; undefined: wait for each upload between the steps. */
  readonly stepMs?: number;
  readonly checkpoints: number;
}

export interface CheckpointTime {
  /** Wait of the loop: for the copy at the boundary, and before the next write to the state. */
  readonly blockedMs: number;
  /** From the boundary until the manifest is written. */
  readonly totalMs: number;
}

export interface TrainerReport {
  readonly stateBytes: number;
  /** Resident memory before the state exists: Node, the SDK, the upload thread. */
  readonly baseBytes: number;
  /** Peak resident memory (`VmHWM`). */
  readonly peakBytes: number;
  readonly checkpoints: readonly CheckpointTime[];
}
