import { getDatasetVersion } from "../../core/datasets/repository";
import { digestOf } from "../../core/digest";
import { conflict } from "../../core/errors";
import { runNotFound } from "../../core/runs/errors";
import type { Run } from "../../core/runs/shapes";
import { findOutput } from "../../core/runs/step";
import type { TrainingOutput } from "../../core/runs/training-task";
import { findSubmitted, type SubmitDependencies, submitRun } from "../../core/training/submit";

/** Thrown when a run did not complete its training, so that there are no weights to compare. */
export const notTrained = (runId: string) =>
  conflict(
    "RUN_NOT_TRAINED",
    `run ${runId} has not finished its training, so there are no weights to reproduce; wait for it, or submit its job again`,
    { runId },
  );

/** Thrown when the run is no reproduction and the request names no other run. */
export const nothingToCompare = (runId: string) =>
  conflict(
    "NOT_A_REPRODUCTION",
    `run ${runId} reproduces no other run; name the run to compare it with by \`of\` (\`--of\`), or reproduce it first`,
    { runId },
  );

export interface ReproduceRequest {
  readonly runId: string;
  readonly team: string;
  readonly actor: string;
  readonly idempotencyKey?: string;
}

/**
 * Repeats a run from its record: the same job, code and dataset version, from the first step, without the cache. The
 * new run ends after its evaluation and registers nothing. A dataset version that was deprecated in the meantime is
 * accepted.
 *
 * @throws RUN_NOT_FOUND, RUN_NOT_TRAINED, IDEMPOTENCY_CONFLICT
 */
export async function reproduceRun(dependencies: SubmitDependencies, request: ReproduceRequest): Promise<Run> {
  const { runs, datasets } = dependencies;
  const { runId, team, actor, idempotencyKey } = request;
  const requestDigest = digestOf({ reproduce: runId });
  const known = await findSubmitted(dependencies, { team, idempotencyKey, requestDigest });
  if (known) return known;

  const details = await runs.findDetails(runId);
  if (!details) throw runNotFound(runId, "training");
  if (!findOutput<TrainingOutput>(details, "LaunchTraining")) throw notTrained(runId);
  const { job, dataset, code, environment, fineTunedFrom } = details.run;
  return submitRun(dependencies, {
    job: { ...job, dataset: `${dataset.name}@${dataset.version}` },
    dataset: await getDatasetVersion(datasets, dataset.name, dataset.version),
    code,
    ...(environment ? { environment } : {}),
    noCache: true,
    team,
    actor,
    idempotencyKey,
    requestDigest,
    reproducedFrom: runId,
    ...(fineTunedFrom ? { fineTunedFrom } : {}),
  });
}
