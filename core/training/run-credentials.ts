import * as z from "zod";
import { InvalidInputError } from "../errors";
import { problemsOf } from "../problems";
import { runAlreadyEnded, runNotFound } from "../runs/errors";
import { checkRunKey, type KeyPurpose, type RunKeys } from "../runs/run-key";
import { isOpen } from "../runs/run-states";
import type { Run } from "../runs/shapes";

/** Lifetime of a run's session: STS's minimum. */
export const runSessionSeconds = 900;

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export interface RunSessions {
  /** Opens a session that can access this run and nothing else, as far as the purpose needs it. */
  open(run: Run, purpose: KeyPurpose): Promise<Credentials>;
}

export interface RunCredentialsDependencies {
  readonly keys: RunKeys;
  readonly sessions: RunSessions;
  /** Finds a run of any team. */
  findRun(runId: string): Promise<Run | undefined>;
}

const request = z.object({
  runId: z.string().min(1).max(100),
  runKey: z.string().min(1).max(200),
  purpose: z.enum(["training", "evaluation"]).default("training"),
});

/**
 * Returns the credentials of one run, for the holder of its key, while the run is open. `endSessions` ends those that
 * were issued before the run's end.
 * @throws RUN_KEY_REFUSED, RUN_NOT_FOUND, RUN_ENDED, InvalidInputError
 */
export async function issueRunCredentials(
  dependencies: RunCredentialsDependencies,
  input: unknown,
): Promise<Credentials> {
  const parsed = request.safeParse(input);
  // Omits the values, because one of them is a secret.
  if (!parsed.success) throw new InvalidInputError("the credentials request is not valid", problemsOf(parsed.error));
  const { runId, runKey, purpose } = parsed.data;
  await checkRunKey(dependencies.keys, runId, runKey, purpose);
  const run = await dependencies.findRun(runId);
  if (!run) throw runNotFound(runId);
  if (!isOpen(run.status)) throw runAlreadyEnded(runId, run.status);
  return dependencies.sessions.open(run, purpose);
}
