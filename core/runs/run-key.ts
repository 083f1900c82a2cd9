import { sha256 } from "../digest";
import { forbidden } from "../errors";

/**
 * Keys of runs: 32 random bytes as hex, by which a run's trainers authenticate at `run-credentials` and
 * `ingest-metrics`. Useless without the right to invoke these functions.
 */
export interface RunKeys {
  /** Returns the run's key for a purpose; creates it if there is none. */
  keyOf(runId: string, purpose?: KeyPurpose): Promise<string>;
  find(runId: string, purpose?: KeyPurpose): Promise<string | undefined>;
}

/** The jobs that have the key. A user's code knows the key of its training, but not that of its evaluation. Default: training. */
export type KeyPurpose = "training" | "evaluation";

export const runKeyRefused = (runId: string) =>
  forbidden(
    "RUN_KEY_REFUSED",
    `the run key in the request is not the key of run ${runId}: only the workers of the run may make this request`,
    { runId },
  );

/** @throws RUN_KEY_REFUSED */
export async function checkRunKey(
  keys: Pick<RunKeys, "find">,
  runId: string,
  presented: string,
  purpose: KeyPurpose = "training",
): Promise<void> {
  const key = await keys.find(runId, purpose);
  // Compares digests, so that the duration of the comparison reveals nothing about the key.
  if (key === undefined || sha256(key) !== sha256(presented)) throw runKeyRefused(runId);
}
