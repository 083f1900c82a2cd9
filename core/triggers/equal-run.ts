import { resolveDataset } from "../datasets/repository";
import { digestOf } from "../digest";
import type { ModelRepository } from "../registry/repository";
import { hyperparametersSchema, withoutUnusedOptions } from "../runs/hyperparameters";
import type { Job } from "../runs/job";
import type { Run } from "../runs/shapes";
import { fineTuneSourceOf } from "../training/initial-weights";
import { type SubmitDependencies, submittedRunId, withJudgedSlices } from "../training/submit";

/** Number of a model's newest versions of the same data that are compared. */
const comparedVersions = 100;

export interface EqualRunDependencies extends SubmitDependencies {
  readonly team: string;
  readonly registry?: { readonly repository: Pick<ModelRepository, "find" | "findVersion" | "listVersions"> };
}

/**
 * Returns the digest of the work that a job asks for now: its settings and the version of its dataset. Limits do not
 * change what is trained.
 * @throws the refusals of `submitRun` that concern the dataset or the initial weights
 */
export async function workOf(dependencies: EqualRunDependencies, job: Job): Promise<string> {
  const { manifest } = await resolveDataset(dependencies.datasets, job.dataset);
  const model = job.registerAs === undefined ? undefined : await dependencies.registry?.repository.find(job.registerAs);
  const fineTunedFrom = job.fineTune && (await fineTuneSourceOf(dependencies, job.fineTune));
  return workDigest({ job: withJudgedSlices(job, manifest, model), dataset: manifest, fineTunedFrom });
}

function workDigest({ job, dataset, fineTunedFrom }: Pick<Run, "job" | "dataset" | "fineTunedFrom">): string {
  const { dataset: _, limits: __, ...settings } = job;
  const hyperparameters = hyperparametersSchema.parse(withoutUnusedOptions(settings.hyperparameters));
  return digestOf({ ...settings, hyperparameters, dataset: [dataset.name, dataset.version], fineTunedFrom });
}

/** Returns the key of the nth run for the same work: the runs before it failed or were cancelled. */
export const keyOfWork = (work: string, nth: number): string => `trigger ${work}${nth === 0 ? "" : ` again ${nth}`}`;

export const hasFailed = ({ status }: Pick<Run, "status">): boolean => status === "failed" || status === "killed";

/** Finds a run that does or did the same work: one of a trigger, or one that made a version of the model. */
export async function findEqualRun(
  { runs, registry, team }: EqualRunDependencies,
  job: Job,
  work: string,
): Promise<Run | undefined> {
  for (let nth = 0; ; nth += 1) {
    const run = await runs.find(submittedRunId(team, keyOfWork(work, nth)));
    if (run === undefined) break;
    if (!hasFailed(run)) return run;
  }
  if (job.registerAs === undefined) return undefined;
  const versions = (await registry?.repository.listVersions(job.registerAs)) ?? [];
  const [dataset] = job.dataset.split("@");
  const ofData = [...versions]
    .filter((each) => each.lifecycle === "active" && each.artifactKey !== undefined && each.dataset?.name === dataset)
    .sort((a, b) => b.version - a.version)
    .slice(0, comparedVersions);
  for (const { runId } of ofData) {
    const run = runId === undefined ? undefined : await runs.find(runId);
    if (run && !run.reproducedFrom && !hasFailed(run) && workDigest(run) === work) return run;
  }
  return undefined;
}

export async function nothingNew({ registry }: EqualRunDependencies, run: Run): Promise<string> {
  const { runId, dataset, model } = run;
  const of = `nothing was new: ${runId} trained this job on ${dataset.name}@${dataset.version}`;
  if (model === undefined || !registry) return of;
  const version = (await registry.repository.listVersions(model)).find((each) => each.runId === runId);
  if (!version) return of;
  const head = await registry.repository.find(model);
  const serves = head?.production === version.version ? ", which is in production" : "";
  return `${of}, and made ${model} version ${version.version}${serves}`;
}
