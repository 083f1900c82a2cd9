import {
  type BatchClient,
  DescribeJobsCommand,
  type JobDetail,
  ListJobsCommand,
  SubmitJobCommand,
  TerminateJobCommand,
} from "@aws-sdk/client-batch";
import type { PlatformConfig } from "../../core/config";
import type { JobOutcome } from "../../core/training/attempts";
import { type JobRequest, jobNameOf, type TrainingJobs } from "../../core/training/ports";

/**
 * Spot: an array of single-node jobs (one: a plain job) that find each other by our own rendezvous. On-demand with several workers: one
 * multi-node-parallel job. Batch refuses the latter on Spot by hanging in RUNNABLE, so it is never asked for.
 */
export function createTrainingJobs(
  client: BatchClient,
  config: Pick<PlatformConfig, "jobQueues" | "jobDefinitions">,
): TrainingJobs {
  const queueOf = (market: JobRequest["market"]): string =>
    market === "spot" ? config.jobQueues.spot : config.jobQueues.onDemand;

  async function findByName(queue: string, jobName: string): Promise<string | undefined> {
    const { jobSummaryList } = await client.send(
      new ListJobsCommand({ jobQueue: queue, filters: [{ name: "JOB_NAME", values: [jobName] }] }),
    );
    return jobSummaryList?.find((job) => job.jobName === jobName)?.jobId;
  }

  return {
    async submit(request) {
      const jobName = jobNameOf(request.runId, request.attempt);
      const jobQueue = queueOf(request.market);
      const known = await findByName(jobQueue, jobName);
      if (known) return { jobId: known };
      const { jobId } = await client.send(
        new SubmitJobCommand({ jobName, jobQueue, ...shapeOf(request, config.jobDefinitions) }),
      );
      return { jobId: jobId as string };
    },

    async describe(jobId) {
      const { jobs } = await client.send(new DescribeJobsCommand({ jobs: [jobId] }));
      const job = jobs?.[0];
      if (!job) return { status: "failed", hostLoss: false, reason: `Batch does not know job ${jobId}` };
      return outcomeOf(job, await failedChildren(client, job));
    },

    async terminate(jobId, reason) {
      // TerminateJob answers success for jobs that have ended.
      await client.send(new TerminateJobCommand({ jobId, reason }));
    },
  };
}

type JobShape = Pick<
  SubmitJobCommand["input"],
  "jobDefinition" | "arrayProperties" | "containerOverrides" | "nodeOverrides"
>;

function shapeOf(request: JobRequest, definitions: PlatformConfig["jobDefinitions"]): JobShape {
  const overrides = {
    // Overrides are limited to 8 KiB: which run, and whose; all else is in the store.
    environment: [
      { name: "RINGMASTER_RUN_ID", value: request.runId },
      { name: "RINGMASTER_TEAM", value: request.team },
    ],
    resourceRequirements: [
      { type: "VCPU" as const, value: String(request.vcpusPerWorker) },
      { type: "MEMORY" as const, value: String(request.memoryMbPerWorker) },
      ...(request.gpusPerWorker > 0 ? [{ type: "GPU" as const, value: String(request.gpusPerWorker) }] : []),
    ],
  };
  if (request.market === "on-demand" && request.workers > 1) {
    return {
      jobDefinition: definitions.gang,
      nodeOverrides: {
        numNodes: request.workers,
        nodePropertyOverrides: [{ targetNodes: "0:", containerOverrides: overrides }],
      },
    };
  }
  return {
    jobDefinition: definitions.single,
    containerOverrides: overrides,
    arrayProperties: request.workers > 1 ? { size: request.workers } : undefined,
  };
}

/** Batch keeps an array's failure with its children. */
async function failedChildren(client: BatchClient, job: JobDetail): Promise<readonly JobDetail[]> {
  if (job.status !== "FAILED" || !job.arrayProperties?.size) return [job];
  const { jobSummaryList } = await client.send(
    new ListJobsCommand({ arrayJobId: job.jobId, jobStatus: "FAILED", maxResults: 100 }),
  );
  const ids = (jobSummaryList ?? []).map((child) => child.jobId as string);
  if (ids.length === 0) return [job];
  return (await client.send(new DescribeJobsCommand({ jobs: ids }))).jobs ?? [job];
}

function outcomeOf(job: JobDetail, failed: readonly JobDetail[]): JobOutcome {
  if (job.status === "SUCCEEDED") return { status: "succeeded", hostLoss: false, reason: job.statusReason };
  if (job.status !== "FAILED") return { status: "running", hostLoss: false };
  const reasons = failed.map((child) => child.statusReason ?? child.container?.reason ?? "");
  return {
    status: "failed",
    hostLoss: reasons.length > 0 && reasons.every((reason) => reason.startsWith("Host EC2")),
    reason: [...new Set(reasons.filter((reason) => reason !== ""))].join("; ") || job.statusReason,
  };
}
