import { sha256 } from "../digest";
import { RingmasterError } from "../errors";

/**
 * Keys of runs: 32 random bytes as hex, made once a run, by which its trainers show whose they are. A trainer gets its run's with its job, and
 * shows it to `run-credentials` and `ingest-metrics`. It is of no use without the right to invoke these.
 */
export interface RunKeys {
  /** The run's key; made where there is none yet. */
  keyOf(runId: string): Promise<string>;
  find(runId: string): Promise<string | undefined>;
}

/** Whoever asks does not have the run's key. */
export class RunKeyRefusedError extends RingmasterError {
  constructor(runId: string) {
    super(
      `the run key in the request is not the key of run ${runId}: only the workers of the run may make this request`,
      {
        code: "RUN_KEY_REFUSED",
        httpStatus: 403,
        details: { runId },
      },
    );
  }
}

/** @throws RunKeyRefusedError */
export async function checkRunKey(keys: Pick<RunKeys, "find">, runId: string, presented: string): Promise<void> {
  const key = await keys.find(runId);
  // Digests, so that the time that comparing takes tells nothing of the key.
  if (key === undefined || sha256(key) !== sha256(presented)) throw new RunKeyRefusedError(runId);
}
