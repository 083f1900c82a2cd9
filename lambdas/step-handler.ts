import type { Context } from "aws-lambda";
import { runIdentities } from "../adapters/dynamodb/run-identities";
import type { Ports, TeamOf } from "../adapters/port";
import { RingmasterError } from "../core/errors";
import { RoundPending, type RoundTask, TaskDone } from "../core/runs/rounds";
import { functionHandler, type Granted } from "./function-handler";

/** The answer of a step before its last round: the state machine runs the round's tasks and calls the step again. */
interface PendingRound {
  readonly pending: { readonly round: string; readonly parts: number };
}

/** Answers a step's result, the round that it needs first, or, for a task, that its result is stored. */
export async function inRounds<Result>(
  work: () => Promise<Result>,
): Promise<Result | PendingRound | { readonly done: true }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TaskDone) return { done: true };
    if (!(error instanceof RoundPending)) throw error;
    return { pending: { round: error.round, parts: error.parts } };
  }
}

/** The state machine's input for each of its functions. */
export interface StepEvent {
  readonly runId: string;
  /** Present if the function computes a part of a round: see `core/runs/rounds.ts`. */
  readonly task?: RoundTask;
  /** Present if the state waits for an external answer. */
  readonly taskToken?: string;
  /** Present in the execution of an approval, as in `ApprovalEvent`. */
  readonly model?: string;
  readonly version?: number;
  readonly request?: string;
}

/** The input of an approval's execution. */
export interface ApprovalEvent extends StepEvent {
  readonly model: string;
  readonly version: number;
  readonly request: string;
}

/**
 * Makes a handler of the state machine from the ports that the step uses. The step receives the ports of the run's team. Log
 * lines name the run and the request. Domain errors get the names that the state machine's Retry and Catch know: their
 * code, or `RETRYABLE`.
 */
export function stepHandler<StepPorts extends Ports, Event extends StepEvent, Result>(
  ports: StepPorts,
  execute: (ports: TeamOf<StepPorts>, event: Event) => Promise<Result>,
): Granted<(event: Event, context: Context) => Promise<Result>> {
  return functionHandler(
    { shared: { identities: runIdentities("read") }, team: ports },
    async ({ identities, forTeam, clock, logger: requestLogger }, event: Event) => {
      const logger = requestLogger.with({ runId: event.runId });
      const startedAt = clock.now();
      try {
        const teamPorts = forTeam(await identities.findTeam(event.runId));
        const result = await execute({ ...teamPorts, logger }, event);
        logger.log("info", "step done", { milliseconds: clock.now() - startedAt });
        return result;
      } catch (error) {
        logger.log("error", "step failed", { error });
        throw named(error);
      }
    },
  );
}

/** Names a domain error for the state machine, which matches the names that Lambda reports. */
function named(error: unknown): unknown {
  if (!(error instanceof RingmasterError)) return error;
  const renamed = new Error(error.message, { cause: error });
  renamed.name = error.retryable ? "RETRYABLE" : error.code;
  return renamed;
}
