import type { TrainingAttempt } from "./run";
import { type TrainingFailure, userCodeFailure } from "./training-task";

/** What Batch says of the job of the latest attempt. */
export interface JobOutcome {
  readonly status: "running" | "succeeded" | "failed";
  /** Every worker that failed did so because its host went away: nobody's fault, and not counted. */
  readonly hostLoss: boolean;
  readonly reason?: string;
}

export type NextMove =
  | { readonly move: "succeed" }
  | { readonly move: "wait" }
  /** `why`: what the attempt ended by. */
  | { readonly move: "resubmit"; readonly market: "spot" | "on-demand"; readonly why: string }
  | { readonly move: "fail"; readonly code: string; readonly message: string; readonly why: string };

/** The reason of an attempt that its hosts' loss ended. */
export const hostLossReason = "host lost";

/** Losses of the hosts that Batch's own attempts did not absorb, before the run goes on-demand for good. */
const lossesBeforeOnDemand = 3;
/** Nobody reclaims an on-demand host: whoever loses so many in a row meets something else, and it costs money each time. */
const lossesOnDemand = 3;

/**
 * What to do about a run's training, given all that is known. Pure, so that late, doubled and lost events come to the same decision.
 *
 * The result object is the truth: whatever Batch says of its job, a result means success. Spot losses never use up the user's
 * retries; the last attempt goes on-demand, where nobody takes the host away.
 *
 * @param known.job of the latest attempt, looked at before the result was
 */
export function decideNextMove(known: {
  readonly hasResult: boolean;
  /** Of the latest attempt. */
  readonly failure: TrainingFailure | undefined;
  readonly job: JobOutcome;
  readonly attempts: readonly TrainingAttempt[];
  readonly retries: number;
}): NextMove {
  const { hasResult, failure, job, attempts, retries } = known;
  if (hasResult) return { move: "succeed" };
  // The other workers would compute the same with the same code; they must not wait for the one that met it, either.
  if (failure?.code === userCodeFailure) {
    return { move: "fail", code: failure.code, message: failure.message, why: failure.message };
  }
  if (job.status === "running") return { move: "wait" };

  // The latest attempt is the one that is judged; it may have been marked as failed by a call that died right after.
  const failed = attempts.slice(0, -1).filter((attempt) => attempt.status === "failed");
  const market = attempts.at(-1)?.market ?? "spot";
  const lost = failed.filter((attempt) => attempt.reason === hostLossReason);
  if (job.hostLoss && !failure) {
    if (market === "on-demand" && lost.filter((attempt) => attempt.market === market).length + 1 >= lossesOnDemand) {
      const message = `${lossesOnDemand} on-demand attempts lost their hosts, and AWS does not reclaim on-demand instances: check the history of the instances (memory, disk, health checks)`;
      return { move: "fail", code: "HOSTS_LOST", message, why: hostLossReason };
    }
    const goes = lost.length + 1 >= lossesBeforeOnDemand ? "on-demand" : market;
    return { move: "resubmit", market: goes, why: hostLossReason };
  }
  const code = failure?.code ?? "TRAINER_EXITED";
  const message = failure?.message ?? `the workers ended without a result: ${job.reason ?? "no reason given"}`;
  if (failure && !failure.retryable) return { move: "fail", code, message, why: message };
  const used = failed.length - lost.length;
  if (used >= retries) return { move: "fail", code, message, why: message };
  return { move: "resubmit", market: used + 1 >= retries ? "on-demand" : market, why: message };
}

/** What an attempt's own row says of its job, once it has ended; Batch forgets jobs after a week. */
export function recordedOutcome(attempt: TrainingAttempt): JobOutcome | undefined {
  if (attempt.status === "succeeded") return { status: "succeeded", hostLoss: false };
  if (attempt.status !== "failed") return undefined;
  return { status: "failed", hostLoss: attempt.reason === hostLossReason, reason: attempt.reason };
}
