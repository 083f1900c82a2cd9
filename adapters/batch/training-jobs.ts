import { type BatchClient, ListJobsCommand, SubmitJobCommand, TerminateJobCommand } from "@aws-sdk/client-batch";
import { JobRefusedError } from "../../core/training/errors";
import { type JobRequest, jobNameOf, type TrainingJobs } from "../../core/training/ports";
import { isMultiNode } from "../../core/training/run";
import type { RunKeys } from "../../core/training/run-key";
import type { PlatformConfig } from "../../platform/config";
import { schedulingOf } from "../../platform/shares";
import { describeAll, failedChildren, outcomeOf, spansOf, workerJobsOf } from "./job-details";

/**
 * Spot: an array of single-node jobs (one: a plain job) that find each other by our own rendezvous. On-demand with several workers: one
 * multi-node-parallel job. Batch refuses the latter on Spot by hanging in RUNNABLE, so it is never asked for.
 *
 * @param once a client that does not try again by itself: SubmitJob knows no idempotency token, and behind a lost answer may be a job
 */
export function createTrainingJobs(
  client: BatchClient,
  once: BatchClient,
  config: Pick<PlatformConfig, "jobQueues" | "jobDefinitions" | "teamShares">,
  keys: Pick<RunKeys, "keyOf">,
): TrainingJobs {
  /** A queue a market and kind of machine. */
  function queueOf({ market, gpusPerWorker }: JobRequest): string {
    const { spot, spotGpu, onDemand, onDemandGpu } = config.jobQueues;
    if (gpusPerWorker > 0) return market === "spot" ? spotGpu : onDemandGpu;
    return market === "spot" ? spot : onDemand;
  }

  return {
    async find(request) {
      const jobName = jobNameOf(request.runId, request.attempt);
      const filters = [{ name: "JOB_NAME", values: [jobName] }];
      const { jobSummaryList } = await client.send(new ListJobsCommand({ jobQueue: queueOf(request), filters }));
      return jobSummaryList?.find((job) => job.jobName === jobName)?.jobId;
    },

    async submit(request) {
      const jobName = jobNameOf(request.runId, request.attempt);
      const job = new SubmitJobCommand({
        jobName,
        jobQueue: queueOf(request),
        ...schedulingOf(request.team, config.teamShares),
        ...shapeOf(request, await keys.keyOf(request.runId), config.jobDefinitions),
      });
      try {
        const { jobId } = await once.send(job);
        return { jobId: jobId as string };
      } catch (error) {
        if (isRefusal(error)) throw new JobRefusedError(jobName, error.message, error);
        throw error;
      }
    },

    async describe(jobId) {
      const [job] = await describeAll(client, [jobId]);
      if (!job) return { status: "failed", hostLoss: false, reason: `Batch does not know job ${jobId}` };
      return outcomeOf(job, await failedChildren(client, job));
    },

    async spans(jobId, { workers, market }) {
      const jobs = await describeAll(client, workerJobsOf(jobId, workers, market));
      return jobs.flatMap(spansOf);
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

function shapeOf(request: JobRequest, runKey: string, definitions: PlatformConfig["jobDefinitions"]): JobShape {
  const overrides = {
    // Overrides are limited to 8 KiB: which run, whose, and what shows it; all else is in the store.
    environment: [
      { name: "RINGMASTER_RUN_ID", value: request.runId },
      { name: "RINGMASTER_TEAM", value: request.team },
      { name: "RINGMASTER_RUN_KEY", value: runKey },
    ],
    resourceRequirements: [
      { type: "VCPU" as const, value: String(request.vcpusPerWorker) },
      { type: "MEMORY" as const, value: String(request.memoryMbPerWorker) },
      ...(request.gpusPerWorker > 0 ? [{ type: "GPU" as const, value: String(request.gpusPerWorker) }] : []),
    ],
  };
  if (isMultiNode(request)) {
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

/** What Batch would answer again: the request itself is wrong. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error) || error.name !== "ClientException") return false;
  const { httpStatusCode } = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata ?? {};
  return httpStatusCode !== 429 && !/too many requests|rate exceeded/i.test(error.message);
}
