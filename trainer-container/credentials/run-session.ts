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
  /** Tests whether the run gets no credentials any more, because it has ended. False if there is no answer. */
  readonly isRefused: () => Promise<boolean>;
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
  if (!config) return { client: {}, runKey: undefined, isRefused: async () => false };
  const { credentialsFunction, ...run } = config;
  const lambda = new LambdaClient({ maxAttempts: 1 });
  const fetch = () => fetchRunCredentials(lambda, credentialsFunction, run);
  const isFinal = (error: unknown) => error instanceof CredentialsRefusedError;
  return {
    client: {
      credentials: keepCredentials({
        fetch,
        now: Date.now,
        sleep,
        random: Math.random,
        isFinal,
        onTrouble: (error) => onTrouble("the run's credentials cannot be renewed yet", error),
      }),
    },
    runKey: run.runKey,
    isRefused: () => fetch().then(() => false, isFinal),
  };
}
