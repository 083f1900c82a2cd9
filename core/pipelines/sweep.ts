import { advance, itemsDone } from "./advance";
import { readPlan } from "./context";
import { endStep } from "./end-step";
import type { PipelineIndex, PipelineRepository, StepDependencies } from "./ports";
import { referenceOf, type StepState } from "./records";
import { stopRun } from "./start";
import { settleWait } from "./waits";

/** Age of a step from which its execution is looked at. A younger one may just be starting. */
const graceMs = 60_000;

/** Repairs the effects of lost events and processes in all open runs: waits, starts, ends, limits. */
export async function sweepPipelines(index: PipelineIndex, forTeam: (team: string) => StepDependencies): Promise<void> {
  const guarded = async (
    team: string,
    what: object,
    work: (dependencies: StepDependencies) => Promise<void>,
  ): Promise<void> => {
    const dependencies = forTeam(team);
    await work(dependencies).catch((error: unknown) =>
      dependencies.logger.log("error", "cannot repair a pipeline run", { team, ...what, error }),
    );
  };
  for (const { team, kind, id } of await index.waits())
    await guarded(team, { kind, id }, (dependencies) => settleWait(dependencies, kind, id));
  for (const { team, id } of await index.openRuns())
    await guarded(team, { pipelineRunId: id }, (dependencies) => repairRun(dependencies, id));
}

async function repairRun(dependencies: StepDependencies, id: string): Promise<void> {
  const { pipelines, objects, clock } = dependencies;
  const run = await pipelines.findRun(id);
  if (run?.status === "running") {
    const { limits } = await readPlan(objects, run);
    const hours = (clock.now() - Date.parse(run.createdAt)) / 3_600_000;
    if (limits && hours > limits.hours && run.stopping === undefined) {
      const message = `the run exceeded its limit of ${limits.hours} hours (limits.hours)`;
      await stopRun(dependencies, id, "failed", { code: "TIME_LIMIT", message });
    }
    for (const state of await openStates(pipelines, id)) await repairStep(dependencies, id, state);
  }
  await advance(dependencies, id);
}

/** Returns the running steps and items whose execution must exist. */
async function openStates(pipelines: PipelineRepository, id: string): Promise<readonly StepState[]> {
  const open: StepState[] = [];
  for (const state of (await pipelines.steps(id)).filter(({ status }) => status === "running")) {
    if (state.map) {
      const items = new Map((await itemsDone(pipelines, id, state.step)).map((each) => [each.item, each]));
      const { next, total } = state.map;
      for (let item = 0; item < Math.min(next, total); item += 1) {
        const found = items.get(item) ?? {
          step: state.step,
          item,
          status: "running",
          attempt: 1,
          startedAt: state.startedAt,
        };
        if (!items.has(item)) await pipelines.createStep(id, found);
        if (found.status === "running") open.push(found);
      }
      if (state.map.ended < total) continue;
    }
    open.push(state);
  }
  return open;
}

async function repairStep(dependencies: StepDependencies, id: string, state: StepState): Promise<void> {
  const { pipelines, executions, team, clock } = dependencies;
  if (clock.now() - Date.parse(state.startedAt) < graceMs) return;
  const run = (await pipelines.findRun(id))!;
  const reference = referenceOf(run, state.step, state.item);
  const status = await executions.stepStatus(team, reference);
  if (status === undefined) await executions.startStep(team, reference);
  else if (status !== "running" && !state.map) {
    const failure = {
      code: "EXECUTION_ENDED",
      message: `the execution of the step is ${status}, and did not record the step's end`,
    };
    await endStep(dependencies, reference, { status: "failed", failure }, state.attempt);
  }
}
