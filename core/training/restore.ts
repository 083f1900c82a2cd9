import { digestOf } from "../digest";
import { InvalidInputError } from "../errors";
import type { ObjectStore } from "../ports";
import { problemsOf } from "../problems";
import { runNotFound } from "../runs/errors";
import { type Job, jobSchema } from "../runs/job";
import type { Run } from "../runs/shapes";
import type { CheckpointManifest } from "./checkpoint/manifest";
import { checkpointStart } from "./initial-weights";
import { findSubmitted, type SubmitDependencies, submitRun } from "./submit";

export interface RestoreDependencies extends SubmitDependencies {
  readonly objects: ObjectStore;
}

/** Settings that may differ from the checkpoint's run: none that determines the result of a step. */
export interface RestoreOverrides {
  readonly hyperparameters?: { readonly epochs?: number };
  readonly resources?: Partial<
    Pick<Job["resources"], "workers" | "minWorkers" | "market" | "placement" | "memoryMbPerWorker">
  >;
  readonly checkpoint?: Partial<Job["checkpoint"]>;
  readonly retries?: number;
}

export interface RestoreRequest {
  readonly runId: string;
  readonly epoch: number;
  readonly overrides: RestoreOverrides;
  /** Continues although the machine's numerics differ from the checkpoint's. The result is then marked. */
  readonly allowOtherNumerics: boolean;
  readonly team: string;
  readonly actor: string;
  readonly submitters?: readonly string[];
  readonly idempotencyKey?: string;
}

/**
 * Creates a run that starts from another run's checkpoint; that run does not change. The checkpoint's manifest is
 * copied to the new run before it starts, so that it cannot expire in between. Its tensors are in the content store and
 * are shared.
 */
export async function restoreRun(dependencies: RestoreDependencies, request: RestoreRequest): Promise<Run> {
  const { objects, runs } = dependencies;
  const { team, actor, submitters, idempotencyKey, ...what } = request;
  const requestDigest = digestOf({ restore: what });
  // A repeated request is answered even if the checkpoint has expired since.
  const run = await findSubmitted(dependencies, { team, idempotencyKey, requestDigest });
  if (run) return run;

  const source = await runs.find(request.runId);
  if (!source) throw runNotFound(request.runId, "training");
  const start = await checkpointStart(objects, source.runId, request.epoch);
  const { manifest } = start;
  const job = jobOf(source, request, manifest);
  return submitRun(dependencies, {
    job,
    code: source.code,
    environment: source.environment,
    noCache: source.noCache,
    team,
    actor,
    submitters,
    idempotencyKey,
    requestDigest,
    restoredFrom: start.restoredFrom,
    ...(source.fineTunedFrom ? { fineTunedFrom: source.fineTunedFrom } : {}),
    ...(request.allowOtherNumerics ? { allowOtherNumerics: true } : {}),
    beforeCreation: start.copyTo,
  });
}

/** @throws InvalidInputError with every problem */
function jobOf(source: Run, { overrides }: RestoreRequest, { epoch }: CheckpointManifest): Job {
  const { job, dataset } = source;
  const parsed = jobSchema.safeParse(
    {
      ...job,
      dataset: `${dataset.name}@${dataset.version}`,
      ...(overrides.retries === undefined ? {} : { retries: overrides.retries }),
      hyperparameters: { ...job.hyperparameters, ...overrides.hyperparameters },
      resources: { ...job.resources, ...overrides.resources },
      checkpoint: { ...job.checkpoint, ...overrides.checkpoint },
    },
    { reportInput: true },
  );
  if (!parsed.success) throw new InvalidInputError("the run cannot be restored", problemsOf(parsed.error));
  const { epochs } = parsed.data.hyperparameters;
  if (epochs > epoch) return parsed.data;
  const rule = `must be more than the ${epoch} epochs that the checkpoint has finished`;
  throw new InvalidInputError("the run cannot be restored", [{ path: "hyperparameters.epochs", value: epochs, rule }]);
}
