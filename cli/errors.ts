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
