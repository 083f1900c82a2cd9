import type { Context } from "aws-lambda";
import { createPlatform, type Deployment, type Platform } from "../adapters/platform";
import { RingmasterError } from "../core/errors";

/** The state machine's input for each of its functions. */
export interface StepEvent {
  readonly runId: string;
  /** Present if the state waits for an external answer. */
  readonly taskToken?: string;
}

/**
 * Wraps a function of the state machine: creates the platform once in each execution environment, passes that of the
 * run's team, logs with run id and request id, and gives domain errors the names that the state machine's Retry and
 * Catch use: their code, or `RETRYABLE`.
 */
export function stepHandler<Event extends StepEvent, Result>(
  execute: (platform: Platform, event: Event) => Promise<Result>,
): (event: Event, context: Context) => Promise<Result> {
  let deployment: Deployment | undefined;
  return async (event, context) => {
    deployment ??= createPlatform();
    const { clock } = deployment;
    const logger = deployment.logger.with({ runId: event.runId, requestId: context.awsRequestId });
    const startedAt = clock.now();
    try {
      const platform = await deployment.forRun(event.runId);
      const result = await execute({ ...platform, logger }, event);
      logger.log("info", "step done", { milliseconds: clock.now() - startedAt });
      return result;
    } catch (error) {
      logger.log("error", "step failed", { error });
      throw named(error);
    }
  };
}

/** Sets the error's name, because Lambda reports it and the state machine matches it. */
function named(error: unknown): unknown {
  if (!(error instanceof RingmasterError)) return error;
  const renamed = new Error(error.message, { cause: error });
  renamed.name = error.retryable ? "RETRYABLE" : error.code;
  return renamed;
}
