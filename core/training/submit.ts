import { isoTime } from "../clock";
import { resolveDataset } from "../datasets/reference";
import type { DatasetRepository, DatasetVersion } from "../datasets/repository";
import { digestOf, sha256 } from "../digest";
import { InvalidInputError } from "../errors";
import type { Clock } from "../ports";
import type { ModelRepository } from "../registry/repository";
import { IdempotencyConflictError } from "../runs/errors";
import type { Job } from "../runs/job";
import { withoutLaterOptions } from "../runs/job-identity";
import type { Executions } from "../runs/ports";
import type { CodeReference, Run } from "../runs/run";
import type { RunRepository } from "../runs/run-repository";
import { withJudgedSlices } from "./gate-slices";
import { checkJobAgainst, checkPolicyAgainst, jobWarnings } from "./job-checks";
import { madeEnvironment } from "./run-environment";

export interface SubmitDependencies {
  /** What the deployment is. */
  readonly config?: { readonly trainerImage?: string };
  readonly runs: RunRepository;
  readonly datasets: DatasetRepository;
  readonly executions: Executions;
  readonly clock: Clock;
  /** Whose policy may ask for slices that the job does not. */
  readonly registry?: { readonly repository: Pick<ModelRepository, "find"> };
  /** A fresh random id, 16 or more lower-case hex digits. */
  readonly randomId: () => string;
}

export interface SubmitRequest {
  readonly job: Job;
  readonly code: CodeReference;
  readonly environment?: Run["environment"];
  readonly noCache: boolean;
  readonly team: string;
  readonly actor: string;
  /** Ids of the people behind the request, where the gateway authenticated them. */
  readonly submitters?: readonly string[];
  readonly idempotencyKey?: string;
  /** Of the whole request, where the job is not all of it. */
  readonly requestDigest?: string;
  readonly cause?: Run["cause"];
  readonly restoredFrom?: Run["restoredFrom"];
  readonly reproducedFrom?: string;
  /** The version that the job's dataset means, where it was resolved already: one that was deprecated since will do. */
  readonly dataset?: DatasetVersion;
  readonly allowOtherNumerics?: true;
  /** What must be there before the run is. May be done twice. */
  readonly beforeCreation?: (runId: string) => Promise<void>;
}

/**
 * Creates a run and starts its state machine. The same request under the same key finds the same run: its id is made from the key.
 * Dying between the row and the start leaves a queued run, which `reconcile` starts.
 */
export async function submitRun(dependencies: SubmitDependencies, request: SubmitRequest): Promise<Run> {
  const { runs, datasets, executions, clock } = dependencies;
  const { code, environment, noCache, idempotencyKey, cause } = request;
  const { restoredFrom, reproducedFrom, allowOtherNumerics } = request;
  const dataset = request.dataset ?? (await resolveDataset(datasets, request.job.dataset));
  const { experiment, registerAs = experiment } = request.job;
  // A reproduction does what its run did, whatever the policy has become.
  const model = reproducedFrom ? undefined : await dependencies.registry?.repository.find(registerAs);
  const problems = [
    ...checkJobAgainst(dataset.manifest, request.job),
    ...(model?.policy ? checkPolicyAgainst(dataset.manifest, model.policy.rules) : []),
  ];
  if (problems.length > 0) throw new InvalidInputError("the job does not fit its dataset", problems);
  const job = reproducedFrom ? request.job : withJudgedSlices(request.job, dataset.manifest, model);

  const { name, version, digest } = dataset.manifest;
  const made = madeEnvironment(environment, dependencies.config?.trainerImage);
  const at = isoTime(clock);
  const run: Run = {
    runId: runIdOf(dependencies, request),
    team: request.team,
    status: "queued",
    job,
    dataset: { name, version, digest },
    model: registerAs,
    code,
    ...(made ? { environment: made } : {}),
    noCache,
    ...(cause ? { cause } : {}),
    ...(restoredFrom ? { restoredFrom } : {}),
    ...(reproducedFrom ? { reproducedFrom } : {}),
    ...(allowOtherNumerics ? { allowOtherNumerics } : {}),
    requestDigest: request.requestDigest ?? digestOfRequest(request),
    createdBy: request.actor,
    ...(request.submitters ? { submitters: request.submitters } : {}),
    createdAt: at,
    updatedAt: at,
  };
  await request.beforeCreation?.(run.runId);
  const created = await runs.create(run);
  if (created.run.requestDigest !== run.requestDigest) throw new IdempotencyConflictError(idempotencyKey ?? run.runId);
  for (const warning of jobWarnings(dataset.manifest, job)) await runs.recordWarning(run.runId, warning);
  if (created.run.status === "queued") await executions.start(run.runId);
  return created.run;
}

/** The run that an earlier send of the same request created. @throws IdempotencyConflictError where the key was used with another one. */
export async function findSubmitted(
  dependencies: SubmitDependencies,
  request: { readonly team: string; readonly idempotencyKey?: string; readonly requestDigest: string },
): Promise<Run | undefined> {
  const { idempotencyKey, requestDigest } = request;
  if (idempotencyKey === undefined) return undefined;
  const run = await dependencies.runs.find(runIdOf(dependencies, request));
  if (run === undefined) return undefined;
  if (run.requestDigest !== requestDigest) throw new IdempotencyConflictError(idempotencyKey);
  if (run.status === "queued") await dependencies.executions.start(run.runId);
  return run;
}

/** An option that is added to the job later does not change the digest of a request that leaves it out. */
function digestOfRequest({ job, code, environment, noCache }: SubmitRequest): string {
  return digestOf({ job: withoutLaterOptions(job), code, environment, noCache });
}

function runIdOf(
  { randomId }: SubmitDependencies,
  { team, idempotencyKey }: { readonly team: string; readonly idempotencyKey?: string },
): string {
  const suffix = idempotencyKey === undefined ? randomId() : sha256(`${team}\0${idempotencyKey}`);
  return `run-${suffix.slice(0, 16)}`;
}
