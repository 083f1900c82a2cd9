import { digestOf } from "../digest";
import { RingmasterError } from "../errors";
import type { Meter } from "../metering/metrics";
import { type PipelinePorts, pipelinePorts, startPipelineRun } from "../pipelines/start";
import type { Job } from "../runs/job";
import { isOpen } from "../runs/run-states";
import type { Run } from "../runs/shapes";
import type { CancelDependencies } from "../training/close-run";
import { findSubmitted, submitRun } from "../training/submit";
import { type Cause, type CauseRecord, idempotencyKeyOf, runCauseOf } from "./cause";
import { type EqualRunDependencies, findEqualRun, hasFailed, keyOfWork, nothingNew, workOf } from "./equal-run";
import type { Trigger } from "./trigger";

export interface StartDependencies
  extends EqualRunDependencies,
    Omit<CancelDependencies & PipelinePorts, keyof EqualRunDependencies> {
  readonly runs: EqualRunDependencies["runs"] & CancelDependencies["runs"];
  readonly executions: PipelinePorts["executions"];
  readonly meter: Meter;
}

/** Finds what the cause would train, and a run that has trained it. A job that cannot be submitted has no work. */
export async function equalTo(
  dependencies: EqualRunDependencies,
  { start }: Trigger,
  cause: Cause,
): Promise<{ readonly work?: string; readonly equal?: { readonly runId: string; readonly reason: string } }> {
  if (start.job === undefined) return {};
  const job = jobFor(start.job, cause);
  try {
    const work = await workOf(dependencies, job);
    const run = await findEqualRun(dependencies, job, work);
    return { work, equal: run && { runId: run.runId, reason: await nothingNew(dependencies, run) } };
  } catch (error) {
    if (!(error instanceof RingmasterError) || error.retryable || error.httpStatus >= 500) throw error;
    return {};
  }
}

/**
 * Starts the run of a cause, or finds it. Idempotent.
 * @returns the run; `unchanged` has the reason if another cause's run does the same work
 */
export async function startRun(
  dependencies: StartDependencies,
  { name, start, authors }: Trigger,
  { id, cause, work }: CauseRecord,
): Promise<{ readonly runId: string; readonly unchanged?: string }> {
  const { team } = dependencies;
  const runCause = runCauseOf(name, cause);
  const actor = cause.type === "manual" ? cause.by : `trigger ${name}`;
  const submitters = submittersOf(authors, cause);
  const { job, code, pipeline = "" } = start;
  if (job === undefined) {
    const parameters = withCause(start.parameters, cause) as Record<string, unknown>;
    const request = {
      pipeline,
      parameters,
      idempotencyKey: idempotencyKeyOf(name, id),
      actor,
      submitters,
      cause: runCause,
    };
    return { runId: (await startPipelineRun(pipelinePorts(dependencies), request)).pipelineRunId };
  }
  const isOwn = (run: Run): boolean => run.cause?.trigger === name && run.cause.id === id;
  for (let nth = 0; ; nth += 1) {
    const idempotencyKey = work === undefined ? idempotencyKeyOf(name, id) : keyOfWork(work, nth);
    // The trigger may have changed since the run was created. It is still the cause's run.
    const identity = { team, idempotencyKey, requestDigest: digestOf({ idempotencyKey }) };
    const earlierRun = await findSubmitted(dependencies, identity);
    if (earlierRun && hasFailed(earlierRun) && !isOwn(earlierRun)) continue;
    const run =
      earlierRun ??
      (await submitRun(dependencies, {
        ...identity,
        job: jobFor(job, cause),
        code,
        noCache: false,
        ...{ actor, submitters },
        cause: runCause,
      }));
    return isOwn(run) ? { runId: run.runId } : { runId: run.runId, unchanged: await nothingNew(dependencies, run) };
  }
}

const isOfPipeline = (runId: string): boolean => runId.startsWith("prun-");

/** Puts fields of the cause into the texts of parameters. A text that is one field becomes its value. */
function withCause(value: unknown, cause: Cause): unknown {
  const field = (name: string): unknown => (Object.hasOwn(cause, name) ? cause[name as keyof Cause] : "");
  if (typeof value === "string") {
    const [, whole] = /^\$\{cause\.(\w+)\}$/.exec(value) ?? [];
    if (whole !== undefined) return field(whole);
    return value.replaceAll(/\$\{cause\.(\w+)\}/g, (_, name: string) => String(field(name)));
  }
  if (Array.isArray(value)) return value.map((each) => withCause(each, cause));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withCause(inner, cause)]));
}

export async function isOpenRun({ runs, pipelines }: StartDependencies, runId: string): Promise<boolean> {
  if (isOfPipeline(runId)) return (await pipelines.findRun(runId))?.status === "running";
  const run = await runs.find(runId);
  return run !== undefined && (isOpen(run.status) || run.status === "paused");
}

/** Cancels a run that has not ended. Idempotent. */
export async function cancelOpen(dependencies: StartDependencies, runId: string, actor: string): Promise<void> {
  const { cancelTraining, cancelPipeline } = pipelinePorts(dependencies);
  await (isOfPipeline(runId) ? cancelPipeline : cancelTraining)(runId, actor);
}

/** Returns the trigger's authors and the person who fired it; `undefined` if one of them is not known. */
function submittersOf(authors: Trigger["authors"], cause: Cause): readonly string[] | undefined {
  if (cause.type !== "manual" || authors === undefined) return authors;
  return cause.personId === undefined ? undefined : [...new Set([...authors, cause.personId])];
}

/** Returns the job for a cause. A dataset cause trains on its own version, not on `latest`. */
function jobFor(job: Job, cause: Cause): Job {
  return cause.type === "dataset" ? { ...job, dataset: `${cause.dataset}@${cause.version}` } : job;
}
