import { answerRun } from "../registry/approval";
import type { RegistrationOutput } from "../registry/registration";
import type { ModelRepository } from "../registry/repository";
import type { Executions } from "../runs/ports";
import { isOpen, type Run, type RunDetails } from "../runs/run";
import { findOutput } from "../runs/step";
import { cleanUpRun } from "./clean-up";
import { closeInterruptedRun } from "./close-run";
import { type CompleteTrainingDependencies, completeTraining } from "./complete-training";
import type { LaunchDependencies } from "./launch";

/** Time in which the workers of a completed training end: they upload the last checkpoint and send metrics. */
const graceMs = 5 * 60_000;
/** Time after which the workers are no longer checked. The job ends with the run at the latest. */
const watchedForMs = 60 * 60_000;

/**
 * Ends the job of a completed training whose workers have not all ended in time. A run may wait for its approval for
 * weeks.
 */
export async function stopStragglers({ jobs, clock }: LaunchDependencies, { attempts }: RunDetails): Promise<void> {
  const { status, jobId, endedAt } = attempts.at(-1) ?? {};
  if (status !== "succeeded" || jobId === undefined || endedAt === undefined) return;
  const since = clock.now() - Date.parse(endedAt);
  if (since < graceMs || since > watchedForMs) return;
  if ((await jobs.describe(jobId)).status !== "running") return;
  await jobs.terminate(jobId, "training has finished, but a worker did not exit");
}

export interface ReconcileDependencies extends CompleteTrainingDependencies {
  readonly registry: { readonly repository: Pick<ModelRepository, "find" | "findVersion"> };
  readonly executions: Executions;
}

/** Time after which a missing start counts as lost with its process. */
const startGraceMs = 30_000;

/** Compares an open run with the services' state, and repairs the effects of lost events. */
export async function reconcile(dependencies: ReconcileDependencies, run: Run): Promise<string> {
  const { executions, runs, tokens, clock, registry } = dependencies;
  if (!isOpen(run.status)) {
    await cleanUpRun(dependencies, run.runId, run.failure?.message ?? `the run is ${run.status}`, executions);
    return "cleaned up";
  }
  const execution = await executions.status(run.runId);
  if (execution === undefined) {
    if (clock.now() - Date.parse(run.createdAt) < startGraceMs) return "starting";
    await executions.start(run.runId);
    return "started";
  }
  if (execution === "failed" || execution === "timed-out" || execution === "aborted") {
    const status = ({ failed: "FAILED", "timed-out": "TIMED_OUT", aborted: "ABORTED" } as const)[execution];
    await closeInterruptedRun(dependencies, run.runId, status, undefined, undefined);
    return "concluded";
  }
  if (run.phase === "LaunchTraining") {
    const move = await completeTraining(dependencies, run.runId);
    // Batch may queue a job for hours until there is capacity. The heartbeat keeps the wait alive.
    if (move === "wait" || move === "resubmit") {
      const waiting = await runs.findTaskTokens(run.runId, "LaunchTraining");
      await Promise.all(waiting.map((token) => tokens.heartbeat(token)));
    }
    return move;
  }
  const details = await runs.findDetails(run.runId);
  if (details) await stopStragglers(dependencies, details);
  if (run.phase === "AwaitApproval") {
    const registration = details && findOutput<RegistrationOutput>(details, "Register");
    if (registration) {
      // Deleted models are included: a run that waits for one waits in vain, and must be answered.
      const model = await registry.repository.find(registration.model);
      const version = await registry.repository.findVersion(registration.model, registration.version);
      if (model && version) await answerRun(dependencies, run.runId, model, version);
    }
    return "awaiting approval";
  }
  return "running";
}
