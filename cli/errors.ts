import { RingmasterError } from "../core/errors";

export class StackStartError extends RingmasterError {
  constructor(message: string) {
    super(message, { code: "STACK_START_FAILED", httpStatus: 500 });
  }
}

export class StackNotRunningError extends RingmasterError {
  constructor(data: string) {
    super(`no stack is running for ${data}: \`ringmaster up --data ${data}\` starts one`, {
      code: "STACK_NOT_RUNNING",
      httpStatus: 500,
    });
  }
}

/** Thrown when the online store does not have a view's batches in time. The function continues, or is invoked again. */
export class MaterializationTimeoutError extends RingmasterError {
  constructor(view: string, batch: number, batches: number, seconds: number) {
    super(
      `the online store has ${batch} of ${batches} batches of ${view} after ${seconds} s; repeat the command to wait longer, or see the logs of the function store-features`,
      { code: "MATERIALIZATION_TIMEOUT", httpStatus: 504, retryable: true, details: { view, batch, batches } },
    );
  }
}
