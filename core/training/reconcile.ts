import type { RegistrationOutput } from "../pipelines/outputs";
import { findOutput } from "../pipelines/step";
import { type ApprovalDependencies, answerApproval } from "../registry/approval";
import { windUp } from "./cancel";
import { concludeInterrupted, type FinishDependencies, finishTraining } from "./finish";
import type { Executions } from "./ports";
import { isOpen, type Run } from "./run";

export interface ReconcileDependencies extends FinishDependencies, ApprovalDependencies {
  readonly executions: Executions;
}

/** A start that has not been made in this time was lost with the process that was to make it. */
const startGraceMs = 30_000;

/** Holds an open run against what the services say, and mends what an event that never came has left undone. */
export async function reconcile(dependencies: ReconcileDependencies, run: Run): Promise<string> {
  const { executions, runs, tokens, clock, registry } = dependencies;
  if (!isOpen(run.status)) {
    await windUp(dependencies, run.runId, run.failure?.message ?? `the run is ${run.status}`);
    return "wound up";
  }
  const execution = await executions.status(run.runId);
  if (execution === undefined) {
    if (clock.now() - Date.parse(run.createdAt) < startGraceMs) return "starting";
    await executions.start(run.runId);
    return "started";
  }
  if (execution === "failed" || execution === "timed-out" || execution === "aborted") {
    const status = ({ failed: "FAILED", "timed-out": "TIMED_OUT", aborted: "ABORTED" } as const)[execution];
    await concludeInterrupted(dependencies, run.runId, status, undefined, undefined);
    return "concluded";
  }
  if (run.phase === "LaunchTraining") {
    const move = await finishTraining(dependencies, run.runId);
    const token = await runs.findTaskToken(run.runId, "LaunchTraining");
    // Batch may hold a job for hours until there is capacity: the wait is alive for as long as we look after it.
    if (token !== undefined && (move === "wait" || move === "resubmit")) await tokens.heartbeat(token);
    return move;
  }
  if (run.phase === "AwaitApproval") {
    const details = await runs.findDetails(run.runId);
    const registration = details && findOutput<RegistrationOutput>(details, "Register");
    if (registration)
      await answerApproval(dependencies, await registry.version(registration.model, registration.version));
    return "awaiting approval";
  }
  return "running";
}
