import { type BatchClient, DescribeJobsCommand, type JobDetail } from "@aws-sdk/client-batch";
import type { JobOutcome } from "../../core/runs/attempts";
import { containersOf, type JobKind } from "../../core/runs/run";
import { trainerExitCodes } from "../../core/runs/training-task";
import { isLost, type WorkerSpan } from "../../core/runs/usage";

/** Describes jobs, a hundred per call (Batch's limit). */
export async function describeAll(client: BatchClient, ids: readonly string[]): Promise<readonly JobDetail[]> {
  const described: JobDetail[] = [];
  for (let from = 0; from < ids.length; from += 100) {
    const { jobs } = await client.send(new DescribeJobsCommand({ jobs: ids.slice(from, from + 100) }));
    described.push(...(jobs ?? []));
  }
  return described;
}

/**
 * Returns the ids of the containers' jobs, which are derived from the job's id: children of an array, or nodes of a gang.
 */
export function workerJobsOf(jobId: string, kind: JobKind): readonly string[] {
  const containers = containersOf(kind);
  if (containers === 1) return [jobId];
  const separator = kind.placement === "cluster" ? "#" : ":";
  return Array.from({ length: containers }, (_, index) => `${jobId}${separator}${index}`);
}

/** Returns the time spans of Batch's own attempts, including the running one. */
export function spansOf({ jobId, status, startedAt, attempts = [] }: JobDetail): readonly WorkerSpan[] {
  const spans: WorkerSpan[] = attempts.flatMap((attempt, i) =>
    attempt.startedAt === undefined
      ? []
      : [
          {
            memberId: `${jobId}/${i + 1}`,
            startedAt: attempt.startedAt,
            stoppedAt: attempt.stoppedAt,
            ...(isLost(attempt.container ?? {}) ? { lost: true as const } : {}),
          },
        ],
  );
  if (status !== "RUNNING" || startedAt === undefined) return spans;
  return [...spans, { memberId: `${jobId}/${attempts.length + 1}`, startedAt }];
}

/** Returns the failed children of an array, because Batch records an array's failure there. */
export async function failedChildren(client: BatchClient, job: JobDetail): Promise<readonly JobDetail[]> {
  const { size } = job.arrayProperties ?? {};
  if (job.status !== "FAILED" || !size || job.jobId === undefined) return [job];
  const children = await describeAll(
    client,
    workerJobsOf(job.jobId, { workers: size, market: "spot", placement: "spread" }),
  );
  const failed = children.filter(({ status }) => status === "FAILED");
  return failed.length === 0 ? [job] : failed;
}

export function outcomeOf(job: JobDetail, failed: readonly JobDetail[]): JobOutcome {
  if (job.status === "SUCCEEDED") return { status: "succeeded", hostLoss: false, reason: job.statusReason };
  if (job.status !== "FAILED") return { status: "running", hostLoss: false, reason: job.statusReason };
  const reasons = failed.map(reasonOf);
  const isLoss = ({ statusReason = "", container }: JobDetail) =>
    statusReason.startsWith("Host EC2") || container?.exitCode === trainerExitCodes.retry;
  return {
    status: "failed",
    hostLoss: failed.length > 0 && failed.every(isLoss),
    reason: [...new Set(reasons.filter((reason) => reason !== ""))].join("; ") || job.statusReason,
  };
}

/** Returns why a worker failed. Batch's own reason is the same for every container that exits, so its code is added. */
function reasonOf({ statusReason, container }: JobDetail): string {
  const { reason, exitCode } = container ?? {};
  if (!statusReason?.startsWith("Essential container") || exitCode === undefined) return statusReason ?? reason ?? "";
  return `${statusReason} with code ${exitCode}${reason ? ` (${reason})` : ""}`;
}
