import { conflict, notFound, RingmasterError } from "../errors";

/** @param needed `training` if a run that was logged from elsewhere is not accepted, although it exists */
export function runNotFound(runId: string, needed: "any" | "training" = "any") {
  const id = JSON.stringify(runId);
  const message =
    needed === "training"
      ? `there is no training run ${id}, and this request is for training runs only`
      : `there is no run ${id}`;
  return notFound("RUN_NOT_FOUND", message, { runId });
}

/** The run was cancelled, or ended by an earlier delivery of the same event. */
export const runAlreadyEnded = (runId: string, status: string) =>
  conflict("RUN_ENDED", `run ${runId} is ${status}: it has ended and cannot be changed; submit a new run`, {
    runId,
    status,
  });

export const runNotEvaluated = (runId: string) =>
  conflict(
    "RUN_NOT_EVALUATED",
    `run ${runId} has no record of its training and evaluation, so there is no model to register; submit its job again`,
    { runId },
  );

export const runNotCompleted = (runId: string, status: string) =>
  conflict("RUN_NOT_COMPLETED", `run ${runId} is ${status}: only a completed run has a model to register`, {
    runId,
    status,
  });

export const runNotPaused = (runId: string, status: string) =>
  conflict("RUN_NOT_PAUSED", `run ${runId} is ${status}, not paused: only a paused run can be resumed`, {
    runId,
    status,
  });

export const stepPassed = (runId: string, step: string, phase: string | undefined) =>
  conflict("STEP_PASSED", `run ${runId} is in ${phase}: its step ${step} has already ended, so this call is ignored`, {
    runId,
    step,
    phase,
  });

export const stepUnreadable = (runId: string, step: string) =>
  conflict("STEP_UNREADABLE", `the record of ${step} of run ${runId} cannot be read; submit the run again`, {
    runId,
    step,
  });

export class JobRefusedError extends RingmasterError {
  constructor(jobName: string, reason: string, cause?: unknown) {
    super(
      `AWS Batch refused the job ${jobName}: ${reason}. Check the job file's resources against the queue's limits`,
      {
        code: "JOB_REFUSED",
        httpStatus: 409,
        details: { jobName, reason },
        cause,
      },
    );
  }
}

export function checkpointNotFound(runId: string, epoch: number, epochs: readonly number[]) {
  const there =
    epochs.length === 0
      ? "it has no checkpoints (one that reused a training has none of its own)"
      : `it has checkpoints of epochs ${epochs.join(", ")}`;
  return notFound(
    "CHECKPOINT_NOT_FOUND",
    `run ${runId} has no checkpoint of epoch ${epoch}: ${there}. A run keeps its newest checkpoint.keep checkpoints and the best one`,
    { runId, epoch, epochs },
  );
}

/** Thrown when the stored checkpoint differs from what was written. */
export class CheckpointDamagedError extends RingmasterError {
  /** @param damage names the damaged object */
  constructor(runId: string, step: number, damage: string, cause?: unknown) {
    super(`the checkpoint of run ${runId} at step ${step} is damaged: ${damage}`, {
      code: "CORRUPT_OBJECT",
      httpStatus: 500,
      details: { runId, step },
      cause,
    });
  }
}

export const idempotencyConflict = (key: string) =>
  conflict(
    "IDEMPOTENCY_CONFLICT",
    `Idempotency-Key ${JSON.stringify(key)} was already used with another request; send a new key for each request`,
    { key },
  );

export const trainingFailed = (code: string, message: string, details?: unknown) => conflict(code, message, details);
