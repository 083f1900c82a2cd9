import { type DatasetRepository, resolveDataset } from "../datasets/repository";
import type { DatasetManifest, DatasetVersion } from "../datasets/shapes";
import { digestOf, sha256 } from "../digest";
import { InvalidInputError, type Problem } from "../errors";
import { type Clock, isoTime } from "../ports";
import type { Model } from "../registry/model";
import { rulesOf } from "../registry/policy";
import type { ModelRepository } from "../registry/repository";
import { idempotencyConflict } from "../runs/errors";
import type { PolicyRules } from "../runs/gate-rules";
import type { Job, RunLimits } from "../runs/job";
import type { Executions } from "../runs/ports";
import type { RunRepository } from "../runs/run-repository";
import type { CodeReference, MadeEnvironment, Run } from "../runs/shapes";
import { type FineTuneDependencies, fineTuneSourceOf } from "./initial-weights";
import {
  checkJobAgainst,
  checkPolicyAgainst,
  type DeploymentSettings,
  deploymentProblems,
  jobWarnings,
} from "./job-checks";
import { primaryMetricOf } from "./primary-metric";

export interface SubmitDependencies extends FineTuneDependencies {
  readonly config?: DeploymentSettings & {
    readonly trainerImage?: string;
    readonly teamShares?: Readonly<Record<string, { readonly limits?: RunLimits }>>;
  };
  readonly runs: Pick<RunRepository, "create" | "find" | "findDetails" | "recordWarning">;
  readonly datasets: DatasetRepository;
  readonly executions: Pick<Executions, "start">;
  readonly clock: Clock;
  /** The model's policy, which may need slices that the job does not have. */
  readonly registry?: { readonly repository: Pick<ModelRepository, "find" | "findVersion"> };
  /** Returns a new random id, at least 16 lower-case hex digits. */
  readonly randomId: () => string;
}

/** Facts that a run has from its request. `fineTunedFrom` defaults to the present weights of the job's `fineTune`. */
type GivenFacts = Pick<
  Run,
  | ("environment" | "submitters" | "cause" | "restoredFrom" | "fineTunedFrom" | "reproducedFrom")
  | ("allowOtherNumerics" | "pauseAt" | "trial" | "parentRunId")
>;

export interface SubmitRequest extends Partial<GivenFacts> {
  readonly job: Job;
  readonly code: CodeReference;
  readonly noCache: boolean;
  readonly team: string;
  readonly actor: string;
  readonly idempotencyKey?: string;
  /** Digest of the whole request, if it contains more than the job. */
  readonly requestDigest?: string;
  /** The resolved version of the job's dataset. It may have been deprecated since. */
  readonly dataset?: DatasetVersion;
  /** Called before the run is created. Must be idempotent. */
  readonly beforeCreation?: (runId: string) => Promise<void>;
}

/**
 * Creates a run and starts its state machine. The same request under the same key finds the same run, because its id is
 * derived from the key. If the process dies between the row and the start, the run stays queued, and `reconcile` starts
 * it.
 */
export async function submitRun(dependencies: SubmitDependencies, request: SubmitRequest): Promise<Run> {
  const { runs, datasets, executions, clock } = dependencies;
  const { code, environment, noCache, idempotencyKey, cause } = request;
  const { restoredFrom, reproducedFrom, allowOtherNumerics, pauseAt, trial, parentRunId } = request;
  const dataset = request.dataset ?? (await resolveDataset(datasets, request.job.dataset));
  const { registerAs } = request.job;
  // A reproduction repeats its run, even if the policy has changed.
  const model =
    reproducedFrom || registerAs === undefined ? undefined : await dependencies.registry?.repository.find(registerAs);
  const missing = deploymentProblems(request.job, dependencies.config);
  if (missing.length > 0) throw new InvalidInputError("the deployment cannot train the job", missing);
  const problems = [
    ...checkJobAgainst(dataset.manifest, request.job),
    ...(model?.policy ? checkPolicyAgainst(dataset.manifest, model.policy.rules, request.job.model) : []),
    ...pauseProblems(request),
  ];
  if (problems.length > 0) throw new InvalidInputError("the job does not fit its dataset", problems);
  const limited = withLimits(request.job, dependencies.config?.teamShares?.[request.team]?.limits);
  const fineTunedFrom = await initialWeights(dependencies, request);
  const job = reproducedFrom ? limited : withJudgedSlices(limited, dataset.manifest, model);

  const { name, version, digest } = dataset.manifest;
  const at = isoTime(clock);
  const run: Run = {
    runId: runIdOf(dependencies, request),
    team: request.team,
    status: "queued",
    job,
    dataset: { name, version, digest },
    primaryMetric: primaryMetricOf(dataset.manifest, job.evaluation),
    model: registerAs,
    code,
    environment: runEnvironment(environment, dependencies.config?.trainerImage),
    noCache,
    ...{ cause, restoredFrom, fineTunedFrom, reproducedFrom, allowOtherNumerics, pauseAt, trial, parentRunId },
    requestDigest: request.requestDigest ?? digestOfRequest(request),
    createdBy: request.actor,
    submitters: request.submitters,
    createdAt: at,
    updatedAt: at,
  };
  await request.beforeCreation?.(run.runId);
  const created = await runs.create(run);
  if (created.run.requestDigest !== run.requestDigest) throw idempotencyConflict(idempotencyKey ?? run.runId);
  for (const warning of jobWarnings(dataset.manifest, job)) await runs.recordWarning(run.runId, warning);
  if (created.run.status === "queued") await executions.start(run);
  return created.run;
}

/** The run of an earlier identical request. @throws IDEMPOTENCY_CONFLICT if its key had another request */
export async function findSubmitted(
  dependencies: SubmitDependencies,
  request: { readonly team: string; readonly idempotencyKey?: string; readonly requestDigest: string },
): Promise<Run | undefined> {
  const { idempotencyKey, requestDigest } = request;
  if (idempotencyKey === undefined) return undefined;
  const run = await dependencies.runs.find(runIdOf(dependencies, request));
  if (run === undefined) return undefined;
  if (run.requestDigest !== requestDigest) throw idempotencyConflict(idempotencyKey);
  if (run.status === "queued") await dependencies.executions.start(run);
  return run;
}

async function initialWeights(
  dependencies: SubmitDependencies,
  { job, fineTunedFrom, restoredFrom }: SubmitRequest,
): Promise<Run["fineTunedFrom"]> {
  if (fineTunedFrom || restoredFrom || !job.fineTune) return fineTunedFrom;
  return fineTuneSourceOf(dependencies, job.fineTune);
}

/** A limit of the job replaces the team's. */
function withLimits(job: Job, limits: RunLimits | undefined): Job {
  return limits === undefined ? job : { ...job, limits: { ...limits, ...job.limits } };
}

function pauseProblems({ pauseAt, job, restoredFrom }: SubmitRequest): readonly Problem[] {
  const { epochs } = job.hyperparameters;
  const finished = restoredFrom?.epoch ?? 0;
  if (pauseAt === undefined || (pauseAt > finished && pauseAt < epochs)) return [];
  const rule = `must be more than ${finished} and less than hyperparameters.epochs (${epochs}): the run pauses after that epoch`;
  return [{ path: "pauseAt", value: pauseAt, rule }];
}

function digestOfRequest({ job, code, environment, noCache, pauseAt }: SubmitRequest): string {
  return digestOf({ job, code, environment, noCache, pauseAt });
}

export function submittedRunId(team: string, idempotencyKey: string): string {
  return `run-${sha256(`${team}\0${idempotencyKey}`).slice(0, 16)}`;
}

function runIdOf(
  { randomId }: SubmitDependencies,
  { team, idempotencyKey }: { readonly team: string; readonly idempotencyKey?: string },
): string {
  if (idempotencyKey !== undefined) return submittedRunId(team, idempotencyKey);
  return `run-${randomId().slice(0, 16)}`;
}

/**
 * Returns the environment of a run: the reported one, and the deployment's present image. A run that follows another
 * one does not inherit its image.
 * @param image a reference, as in the job definition. If it has a digest (`…@sha256:…`), the digest replaces a reported
 * one.
 */
export function runEnvironment(reported: MadeEnvironment = {}, image?: string): MadeEnvironment | undefined {
  const { image: _, ...environment } = reported;
  const imageDigest = image === undefined ? undefined : /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
  const result = { ...environment, ...(image && { image }), ...(imageDigest && { imageDigest }) };
  return Object.keys(result).length > 0 ? result : undefined;
}

/** The limit of `evaluation.slices`. */
const maxColumns = 64;

/**
 * Returns the job with every column in `evaluation.slices` that a gate of its own or of its model's policy needs.
 * Slices are computed with the features, long before the gates. A policy's column that this dataset lacks is left to
 * the gate, which reports it.
 */
export function withJudgedSlices(
  job: Job,
  manifest: Pick<DatasetManifest, "schema">,
  model: Pick<Model, "policy"> | undefined,
): Job {
  const { slices, gates } = job.evaluation;
  const sliceable = new Set(
    manifest.schema
      .filter(({ type }) => type === "int" || type === "string" || type === "bool")
      .map(({ name }) => name),
  );
  const needed = [...columnsOf(gates), ...columnsOf(model && rulesOf(model)).filter((column) => sliceable.has(column))];
  const all = [...new Set([...slices, ...needed])].slice(0, maxColumns);
  return all.length === slices.length ? job : { ...job, evaluation: { ...job.evaluation, slices: all } };
}

function columnsOf(gates: Pick<PolicyRules, "slices" | "fairness"> | undefined): readonly string[] {
  return [...(gates?.slices ?? []), ...(gates?.fairness ?? [])].map(({ column }) => column);
}
