import { InvalidInputError } from "../errors";
import { evaluationKind } from "../evaluation/shapes";
import { problemsOf } from "../problems";
import { jobSchema } from "../runs/job";
import { isOpen } from "../runs/run-states";
import { findOutput } from "../runs/step";
import { trainingKind } from "../runs/training-task";
import { submitRun, submittedRunId } from "../training/submit";
import { failureOf, type Resolved } from "./begin-step";
import { loadStep, readOutput, storeOutput } from "./context";
import type { StepEnd } from "./end-step";
import { stepsOf } from "./plan";
import type { StepDependencies, Wait } from "./ports";
import { pathOf, type StepReference } from "./records";
import { pipelineRunIdOf, startPipelineRun } from "./start";

/**
 * Starts what a step waits for: a training run or a run of another pipeline. Its id is derived from the step and the
 * attempt, so a repetition finds the same one. The wait is recorded before, so that no end can be missed.
 */
export async function launchStep(
  dependencies: StepDependencies,
  reference: StepReference,
  token: string,
  attempt: number,
  resolved: Resolved,
): Promise<void> {
  const { pipelines, team, submit, tokens, cancelTraining, cancelPipeline } = dependencies;
  const { run, plan, state } = await loadStep(dependencies, reference);
  if (state.status !== "running" || state.attempt !== attempt) return;
  const key = `pipeline ${run.pipelineRunId} ${pathOf(reference)} ${attempt}`;
  const train = resolved["train"];
  const wait: Wait = {
    ...{ ...reference, token },
    ...(train === undefined
      ? { kind: "pipeline", id: pipelineRunIdOf(team, key) }
      : { kind: "run", id: submittedRunId(team, key) }),
  };
  const actor = `pipeline ${run.pipeline}`;
  try {
    await pipelines.putWait(wait);
    await pipelines.updateStep(run.pipelineRunId, { ...state, waitsFor: { kind: wait.kind, id: wait.id } }, attempt);
    if (train === undefined) {
      const { name, parameters = {} } = resolved["pipeline"] as { name: string; parameters?: Record<string, unknown> };
      const { submitters, noCache, depth } = run;
      await startPipelineRun(dependencies, {
        pipeline: name,
        parameters,
        idempotencyKey: key,
        actor,
        submitters,
        noCache: noCache?.length === 0 ? [] : undefined,
        parent: reference,
        depth: depth + 1,
      });
    } else {
      const job = jobSchema.safeParse(train, { reportInput: true });
      if (!job.success) throw new InvalidInputError("the job is not valid", problemsOf(job.error));
      const code = stepsOf(plan).get(reference.step)?.code ?? {};
      await submitRun(submit, {
        job: job.data,
        code,
        noCache: run.noCache?.length === 0,
        team,
        actor,
        submitters: run.submitters,
        idempotencyKey: key,
      });
    }
    // The step may have been cancelled since it was read.
    const now = await pipelines.findStep(reference);
    if (now?.status === "cancelled") await (train === undefined ? cancelPipeline : cancelTraining)(wait.id, actor);
  } catch (error) {
    const failure = failureOf(error);
    if (!failure) throw error;
    await tokens.succeed(token, { status: "failed", failure } satisfies StepEnd);
    await pipelines.deleteWait(wait.kind, wait.id);
    return;
  }
  await settleWait(dependencies, wait.kind, wait.id);
}

/** Answers the step that waits for a run, if that run has ended. Idempotent. */
export async function settleWait(dependencies: StepDependencies, kind: Wait["kind"], id: string): Promise<void> {
  const { pipelines, tokens } = dependencies;
  const wait = await pipelines.findWait(kind, id);
  if (!wait) return;
  const end = await (kind === "run" ? endOfTraining : endOfPipeline)(dependencies, id);
  if (!end) return;
  await tokens.succeed(wait.token, end);
  await pipelines.deleteWait(kind, id);
}

async function endOfTraining({ submit }: StepDependencies, runId: string): Promise<StepEnd | undefined> {
  const details = await submit.runs.findDetails(runId);
  if (!details || isOpen(details.run.status) || details.run.status === "paused") return undefined;
  const { status, failure, outcome, model } = details.run;
  if (status !== "completed") {
    const { code = "RUN_FAILED", message = `it is ${status}` } = failure ?? {};
    return { status: "failed", failure: { code, message: `training run ${runId}: ${message}` } };
  }
  const passed =
    outcome &&
    ("passed" in outcome ? outcome.passed : outcome.decision !== "refused-by-gate" && outcome.decision !== "rejected");
  const version = outcome && "version" in outcome ? outcome.version : undefined;
  const { metrics } = findOutput(details, evaluationKind) ?? {};
  const { weights } = findOutput(details, trainingKind) ?? {};
  const output = { runId, status, decision: outcome?.decision, passed, model, version, metrics, weights };
  return { status: "succeeded", output };
}

async function endOfPipeline({ pipelines, objects }: StepDependencies, id: string): Promise<StepEnd | undefined> {
  const run = await pipelines.findRun(id);
  if (!run || run.status === "running") return undefined;
  if (run.status !== "succeeded") {
    const { code = "PIPELINE_FAILED", message = `it is ${run.status}` } = run.failure ?? {};
    return { status: "failed", failure: { code, message: `pipeline run ${id}: ${message}` } };
  }
  const states = await pipelines.steps(id);
  const outputs = states.map(async (state) => [state.step, await readOutput(objects, state)] as const);
  // The answer to a task token has at most 256 KiB.
  return { status: "succeeded", ...(await storeOutput(objects, Object.fromEntries(await Promise.all(outputs)))) };
}
