import type { EventEmitter } from "node:events";
import { ModelError } from "../engine/errors";
import { describeThrown, TimeLimitError } from "../engine/user-code";
import { userFrame } from "./module-source";

/**
 * Rejects with the first uncaught exception instead of ending the process. An exception of a training module is a ModelError:
 * a timer or a promise that the module started failed outside its functions.
 */
export function uncaughtException(process: EventEmitter): Promise<never> {
  const uncaught = new Promise<never>((_, reject) => {
    process.on("uncaughtException", (error: unknown) => {
      const message = `The training module failed outside of model(), loss and metrics: ${describeThrown(error)}`;
      const isUsers = userFrame(error) !== undefined || error instanceof TimeLimitError;
      reject(isUsers ? new ModelError(message, error) : error);
    });
  });
  uncaught.catch(() => undefined); // raced during training; ignored afterwards
  return uncaught;
}

/** Makes `process.exit` throw if the training module calls it: otherwise the run would end without a failure, and run again. */
export function refuseModuleExit(process: { exit(code?: number | string | null): never }): void {
  const { exit } = process;
  process.exit = (code) => {
    const error = new Error(`process.exit(${code ?? ""}) ends the trainer; throw an error to end the run`);
    if (userFrame(error) !== undefined) throw error;
    return exit.call(process, code);
  };
}
