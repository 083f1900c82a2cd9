import type { Plan } from "./plan";
import type { PipelineRun, StepStatus } from "./records";

export interface Decision {
  readonly begin: readonly string[];
  readonly skip: readonly string[];
  readonly cancel: readonly string[];
  /** Present once nothing is left to do. */
  readonly end?: { readonly status: "succeeded" | "failed" | "cancelled"; readonly failedStep?: string };
}

/**
 * Decides what a run does next, from the statuses of its steps alone. Pure: the same statuses give the same decision,
 * whichever events arrived twice or late. A step begins when all its parents have ended, so there is no barrier
 * between levels of the graph.
 */
export function decide(
  plan: Plan,
  run: Pick<PipelineRun, "stopping">,
  statuses: ReadonlyMap<string, StepStatus>,
): Decision {
  const begin: string[] = [];
  const skip: string[] = [];
  const decideSteps = (steps: Plan["steps"], blocked: boolean): boolean => {
    let done = true;
    for (const [name, { after = [], join }] of Object.entries(steps)) {
      const status = statuses.get(name);
      if (status === "running") done = false;
      if (status !== undefined) continue;
      const parents = after.map((parent) => statuses.get(parent));
      const unfit = parents.some((each) => each === "failed" || each === "cancelled");
      if (unfit || blocked) continue;
      if (parents.some((each) => each === undefined || each === "running")) {
        // A parent that never begins, behind a failure, leaves nothing to wait for.
        continue;
      }
      const skipped = parents.filter((each) => each === "skipped").length;
      if (skipped > 0 && (join === "all" || skipped === parents.length)) skip.push(name);
      else begin.push(name);
      done = false;
    }
    return done;
  };
  const names = Object.keys(plan.steps);
  const failed = names.find((name) => statuses.get(name) === "failed");
  const blocked = run.stopping !== undefined || (failed !== undefined && plan.onFailure === "stop");
  const done = decideSteps(plan.steps, blocked);
  const cancel = blocked ? names.filter((name) => statuses.get(name) === "running") : [];
  if (!done || !decideSteps(plan.finally, false)) return { begin, skip, cancel };
  const failedStep = failed ?? Object.keys(plan.finally).find((name) => statuses.get(name) === "failed");
  const status = run.stopping?.status ?? (failedStep === undefined ? "succeeded" : "failed");
  return { begin, skip, cancel, end: { status, failedStep } };
}
