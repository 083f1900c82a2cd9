import { setTimeout as sleep } from "node:timers/promises";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { readRunSession } from "../../platform/config";
import { type Identity, keepCredentials } from "./keeper";
import { CredentialsRefusedError, fetchRunCredentials } from "./lambda-credentials";

/** What a thread of the trainer makes its clients with. */
export interface RunSession {
  /** For the SDK's clients: the run's credentials, or none to take the process's own. */
  readonly client: { readonly credentials?: () => Promise<Identity> };
  readonly runKey: string | undefined;
}

/**
 * The run's session as the environment describes it. Threads have one each: the job's own credentials, which may do nothing but ask
 * for the run's, are everybody's.
 */
export function openRunSession(
  environment: Readonly<Record<string, string | undefined>>,
  onTrouble: (message: string, error: unknown) => void,
): RunSession {
  const config = readRunSession(environment);
  if (!config) return { client: {}, runKey: undefined };
  const { credentialsFunction, ...run } = config;
  const lambda = new LambdaClient({ maxAttempts: 1 });
  return {
    client: {
      credentials: keepCredentials({
        fetch: () => fetchRunCredentials(lambda, credentialsFunction, run),
        now: Date.now,
        sleep,
        random: Math.random,
        isFinal: (error) => error instanceof CredentialsRefusedError,
        onTrouble: (error) => onTrouble("the run's credentials cannot be renewed yet", error),
      }),
    },
    runKey: run.runKey,
  };
}
