import type { Context } from "aws-lambda";
import { createPlatform, type Deployment, type Platform } from "../adapters/platform";
import { RingmasterError } from "../core/errors";

/** What the state machine sends to each of its functions. */
export interface StepEvent {
  readonly runId: string;
  /** Where the state waits for an answer from elsewhere. */
  readonly taskToken?: string;
}

/**
 * Frames a function of the state machine: wires the platform once an execution environment, hands over that of the run's team, logs with run id and request id, and gives
 * domain errors the names that the state machine's Retry and Catch know: their code, or `RETRYABLE`.
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

/** Lambda reports an error by its name; the state machine matches names. */
function named(error: unknown): unknown {
  if (!(error instanceof RingmasterError)) return error;
  const renamed = new Error(error.message, { cause: error });
  renamed.name = error.retryable ? "RETRYABLE" : error.code;
  return renamed;
}
