import { setTimeout as sleep } from "node:timers/promises";
import { LambdaClient } from "@aws-sdk/client-lambda";
// Not the index, which loads the schemas of all configuration: each thread of the trainer opens a session.
import { readRunSession } from "../../platform/config/run-session";
import { type Identity, keepCredentials } from "./keeper";
import { CredentialsRefusedError, fetchRunCredentials } from "./lambda-credentials";

/** Settings with which a thread of the trainer creates its clients. */
export interface RunSession {
  /** For the SDK's clients: the run's credentials. Empty: the process's own credentials. */
  readonly client: { readonly credentials?: () => Promise<Identity> };
  readonly runKey: string | undefined;
}

/**
 * Opens the run's session from the environment. Each thread has its own. All threads share the job's own credentials,
 * which only permit a request for the run's credentials.
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
