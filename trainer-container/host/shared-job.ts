import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import type { JobContinuation } from "../../core/runs/training-task";
import { trainerExitCodes } from "../../core/runs/training-task";
import type { Interruption } from "./interruption";

type Environment = Readonly<Record<string, string | undefined>>;

interface SharedJobDependencies {
  /** Trains the run that the environment names, to the process's exit code. */
  readonly train: (environment: Environment) => Promise<number>;
  /** Requests the training that follows. @param leave the job ends unless a training was already assigned */
  readonly next: (environment: Environment, leave: boolean) => Promise<JobContinuation>;
  readonly interruption: Interruption;
  /** Waits, until an interruption at the latest. */
  readonly pause: (milliseconds: number) => Promise<unknown>;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly onTrouble: (error: unknown) => void;
}

/** A longer trial ends its job: the start of another one is a small part of it, and other teams' jobs get their turn. */
const shortTrialMs = 300_000;
/** Maximum wait for the next trial. Longer than the platform takes from a trial's end to the next one's start. */
const patienceMs = 20_000;
const firstPauseMs = 400;
const maxPauseMs = 2_000;
/** Time after the maximum wait in which a trainer that gets no answer tries to leave. A trial may be assigned to it. */
const leavingMs = 40_000;

/**
 * Trains the job's run, then trials that the platform assigns, until none comes or one does not succeed.
 * @returns the exit code of the last training
 */
export async function trainInTurn(first: Environment, dependencies: SharedJobDependencies): Promise<number> {
  const { train, interruption, now } = dependencies;
  for (let environment = first; ; ) {
    const startedAt = now();
    const code = await train(environment);
    const short = now() - startedAt < shortTrialMs;
    if (code !== trainerExitCodes.completed || interruption.raised) return code;
    const next = await nextTraining(environment, short ? patienceMs : 0, dependencies);
    if (next === undefined) return code;
    const { runId, runKey, segment } = next;
    environment = {
      ...first,
      RINGMASTER_RUN_ID: runId,
      RINGMASTER_RUN_KEY: runKey,
      RINGMASTER_SEGMENT: String(segment ?? 0),
    };
  }
}

async function nextTraining(
  environment: Environment,
  patience: number,
  { next, interruption, pause, now, onTrouble }: SharedJobDependencies,
): Promise<JobContinuation["next"]> {
  const deadline = now() + patience;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
    try {
      const answer = await next(environment, interruption.raised || now() >= deadline);
      if (answer.leave) return undefined;
      if (answer.next) return answer.next;
    } catch (error) {
      onTrouble(error);
      if (now() >= deadline + leavingMs) return undefined;
    }
    await pause(pauseMs);
  }
}

export function continueRequests(client: LambdaClient, functionName: string) {
  return async (request: {
    readonly runId: string;
    readonly runKey: string;
    readonly segment: number;
    readonly jobId: string;
    readonly leave: boolean;
  }): Promise<JobContinuation> => {
    const answer = await client.send(
      new InvokeCommand({
        FunctionName: functionName,
        InvocationType: "RequestResponse",
        Payload: JSON.stringify(request),
      }),
    );
    const text = new TextDecoder().decode(answer.Payload);
    if (answer.FunctionError === undefined) return JSON.parse(text) as JobContinuation;
    throw new Error(`${functionName} failed: ${text.slice(0, 1_000)}`);
  };
}
