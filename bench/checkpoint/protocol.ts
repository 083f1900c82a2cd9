export interface TrainerTask {
  readonly endpoint: string;
  readonly bucket: string;
  /** Milliseconds of computing between the writes to the state; undefined: wait for each upload instead of stepping on. */
  readonly stepMs?: number;
  readonly checkpoints: number;
}

export interface CheckpointTime {
  /** What the loop waited: the copy at the boundary, and before the next write to the state. */
  readonly blockedMs: number;
  /** From the boundary until the manifest is written. */
  readonly totalMs: number;
}

export interface TrainerReport {
  readonly stateBytes: number;
  /** Resident before the state is there: Node, the SDK, the upload thread. */
  readonly baseBytes: number;
  /** Most that was ever resident (`VmHWM`). */
  readonly peakBytes: number;
  readonly checkpoints: readonly CheckpointTime[];
}
