/** The settings with which a trainer's threads request their run's credentials. */
export interface RunSessionConfig {
  readonly runId: string;
  /** A secret that authenticates the run's trainers. */
  readonly runKey: string;
  /** The purpose of the key: the training, or an evaluation by a job of its own. */
  readonly purpose: "training" | "evaluation";
  /** The function that issues the run's credentials. */
  readonly credentialsFunction: string;
}

/** Returns `undefined` if the process's own credentials are the run's: a trainer that was started by a person. */
export function readRunSession(
  environment: Readonly<Record<string, string | undefined>>,
): RunSessionConfig | undefined {
  const { RINGMASTER_CREDENTIALS_FUNCTION, RINGMASTER_RUN_ID, RINGMASTER_RUN_KEY, RINGMASTER_EVALUATION } = environment;
  if (!RINGMASTER_CREDENTIALS_FUNCTION || !RINGMASTER_RUN_ID || !RINGMASTER_RUN_KEY) return undefined;
  return {
    runId: RINGMASTER_RUN_ID,
    runKey: RINGMASTER_RUN_KEY,
    purpose: RINGMASTER_EVALUATION ? "evaluation" : "training",
    credentialsFunction: RINGMASTER_CREDENTIALS_FUNCTION,
  };
}
