/** By what a trainer's threads get the credentials of their run. */
export interface RunSessionConfig {
  readonly runId: string;
  /** A secret: shows whose trainer this is. */
  readonly runKey: string;
  /** What gives out the run's credentials. */
  readonly credentialsFunction: string;
}

/** `undefined` where the process's own credentials are the run's: a trainer that was started by hand. */
export function readRunSession(
  environment: Readonly<Record<string, string | undefined>>,
): RunSessionConfig | undefined {
  const { RINGMASTER_CREDENTIALS_FUNCTION, RINGMASTER_RUN_ID, RINGMASTER_RUN_KEY } = environment;
  if (!RINGMASTER_CREDENTIALS_FUNCTION || !RINGMASTER_RUN_ID || !RINGMASTER_RUN_KEY) return undefined;
  return {
    runId: RINGMASTER_RUN_ID,
    runKey: RINGMASTER_RUN_KEY,
    credentialsFunction: RINGMASTER_CREDENTIALS_FUNCTION,
  };
}
