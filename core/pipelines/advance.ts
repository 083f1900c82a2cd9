import { eachLimited } from "../each-limited";
import { isoTime } from "../ports";
import { readPlan } from "./context";
import { decide } from "./decide";
import type { PipelineDependencies, PipelineRepository } from "./ports";
import { type PipelineRun, pathOf, referenceOf, type StepReference, type StepState } from "./records";

const startsAtOnce = 16;

/**
 * Continues a run from the states of its steps: begins, skips and cancels steps, and ends the run. Idempotent, and safe
 * at any number of concurrent calls: each change is a conditional write, and each start has the step's name.
 */
export async function advance(dependencies: PipelineDependencies, id: string): Promise<void> {
  const { pipelines, clock, objects } = dependencies;
  const run = await pipelines.findRun(id);
  if (!run) return;
  if (run.status !== "running") return publishEnd(dependencies, run);
  const plan = await readPlan(objects, run);
  for (;;) {
    const now = (await pipelines.findRun(id)) ?? run;
    if (now.status !== "running") return;
    const statuses = await pipelines.statuses(id);
    const { begin, skip, cancel, end } = decide(plan, now, statuses);
    await eachLimited(skip, startsAtOnce, (step) => {
      const at = isoTime(clock);
      const why = "a step before it was skipped";
      return pipelines.createStep(id, { step, status: "skipped", attempt: 1, startedAt: at, endedAt: at, why });
    });
    await eachLimited(begin, startsAtOnce, (step) => startStep(dependencies, referenceOf(run, step)));
    const reason = now.stopping?.failure.message ?? `a step failed, and the pipeline's onFailure is ${plan.onFailure}`;
    await eachLimited(cancel, startsAtOnce, async (step) =>
      cancelStep(dependencies, run, (await pipelines.findStep(referenceOf(run, step)))!, reason),
    );
    if (end) return closeRun(dependencies, now, end);
    if (skip.length + cancel.length === 0) return;
  }
}

/** Creates the state of a step or an item, and starts its execution. Idempotent. */
export async function startStep(
  { pipelines, executions, team, clock }: PipelineDependencies,
  reference: StepReference,
): Promise<void> {
  const { pipelineRunId, ...step } = reference;
  await pipelines.createStep(pipelineRunId, { ...step, status: "running", attempt: 1, startedAt: isoTime(clock) });
  await executions.startStep(team, reference);
}

async function closeRun(
  dependencies: PipelineDependencies,
  run: PipelineRun,
  { status, failedStep }: NonNullable<ReturnType<typeof decide>["end"]>,
): Promise<void> {
  const { pipelines, clock } = dependencies;
  const failed = failedStep === undefined ? undefined : await pipelines.findStep(referenceOf(run, failedStep));
  const failure = failed?.failure;
  const endedAt = isoTime(clock);
  const cause = run.stopping?.failure ?? (failure && { ...failure, step: failedStep });
  await pipelines.updateRun(run.pipelineRunId, { status, endedAt, ...(cause ? { failure: cause } : {}) });
  const ended = await pipelines.findRun(run.pipelineRunId);
  if (ended) await publishEnd(dependencies, ended);
}

/** The run stays in the list of open ones until its event was accepted, so that the sweep repeats a lost publication. */
async function publishEnd({ pipelines, runEvents }: PipelineDependencies, run: PipelineRun): Promise<void> {
  const { pipelineRunId, team, pipeline, status, endedAt, cause } = run;
  if (endedAt === undefined) return;
  await runEvents.publishPipelineEnded({
    id: `pipeline-ended-${pipelineRunId}`,
    at: endedAt,
    team,
    pipeline,
    pipelineRunId,
    status,
    trigger: cause?.trigger,
  });
  await pipelines.delistRun(pipelineRunId);
}

/** Cancels a running step: first its work, then its row, so that a process that dies in between leaves it to be cancelled again. */
async function cancelStep(
  dependencies: PipelineDependencies,
  run: PipelineRun,
  state: StepState,
  reason: string,
): Promise<void> {
  const { pipelines, executions, team, clock } = dependencies;
  const reference: StepReference = referenceOf(run, state.step, state.item);
  if (state.map) {
    const items = await itemsDone(pipelines, run.pipelineRunId, state.step);
    const open = items.filter(({ status }) => status === "running");
    await eachLimited(open, startsAtOnce, (item) => cancelStep(dependencies, run, item, reason));
  }
  if (state.waitsFor) await cancelAwaited(dependencies, state.waitsFor, reference);
  await executions.stopStep(team, reference, reason);
  const { waitsFor: _, ...rest } = state;
  const failure = { code: "CANCELLED", message: `${pathOf(state)} was cancelled: ${reason}` };
  await pipelines.updateStep(
    run.pipelineRunId,
    { ...rest, status: "cancelled", failure, endedAt: isoTime(clock) },
    state.attempt,
  );
  // The step may have taken a lease since its state was read.
  await releaseLease(dependencies, reference, (await pipelines.findStep(reference))?.key);
}

/** Cancels the run that a step waits for, and removes the wait. */
export async function cancelAwaited(
  { pipelines, cancelTraining, cancelPipeline }: PipelineDependencies,
  { kind, id }: NonNullable<StepState["waitsFor"]>,
  { pipelineRunId }: StepReference,
): Promise<void> {
  await (kind === "run" ? cancelTraining : cancelPipeline)(id, `pipeline run ${pipelineRunId}`);
  await pipelines.deleteWait(kind, id);
}

/** Returns the states of all items of a `forEach` that began, in their order. */
export async function itemsDone(
  pipelines: Pick<PipelineRepository, "items">,
  id: string,
  step: string,
): Promise<readonly StepState[]> {
  const items: StepState[] = [];
  let nextToken: string | undefined;
  do {
    const page = await pipelines.items(id, step, { limit: 1_000, nextToken });
    items.push(...page.items);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return items;
}

export const isSameStep = (a: StepReference, b: StepReference): boolean =>
  a.pipelineRunId === b.pipelineRunId && a.step === b.step && a.item === b.item;

/** Ends a step's lease, so that steps with the same key need not wait for its time. */
export async function releaseLease(
  { pipelines }: Pick<PipelineDependencies, "pipelines">,
  reference: StepReference,
  key: string | undefined,
): Promise<void> {
  const entry = key === undefined ? undefined : await pipelines.findCached(key);
  if (key !== undefined && entry?.leasedUntil !== undefined && isSameStep(entry.holder, reference))
    await pipelines.putCached(key, undefined, entry);
}
