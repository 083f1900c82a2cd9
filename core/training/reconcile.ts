import { type ApprovalDependencies, answerRun } from "../registry/approval";
import type { RegistrationOutput } from "../registry/registration";
import type { Executions } from "../runs/ports";
import { isOpen, type Run } from "../runs/run";
import { findOutput } from "../runs/step";
import { windUp } from "./clean-up";
import { concludeInterrupted } from "./end-run";
import { type FinishDependencies, finishTraining } from "./finish";
import { stopStragglers } from "./stragglers";

export interface ReconcileDependencies extends FinishDependencies, ApprovalDependencies {
  readonly executions: Executions;
}

/** A start that has not been made in this time was lost with the process that was to make it. */
const startGraceMs = 30_000;

/** Holds an open run against what the services say, and mends what an event that never came has left undone. */
export async function reconcile(dependencies: ReconcileDependencies, run: Run): Promise<string> {
  const { executions, runs, tokens, clock, registry } = dependencies;
  if (!isOpen(run.status)) {
    await windUp(dependencies, run.runId, run.failure?.message ?? `the run is ${run.status}`, executions);
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
    // Batch may hold a job for hours until there is capacity: the wait is alive for as long as we look after it.
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
      // Deleted ones are found, too: who waits for one waits in vain, and is told so.
      const model = await registry.repository.find(registration.model);
      const version = await registry.repository.findVersion(registration.model, registration.version);
      if (model && version) await answerRun(dependencies, run.runId, model, version);
    }
    return "awaiting approval";
  }
  return "running";
}
