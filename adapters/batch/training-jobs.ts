import {
  BatchClient,
  DescribeJobDefinitionsCommand,
  DescribeJobsCommand,
  type JobDetail,
  ListJobsCommand,
  SubmitJobCommand,
  TerminateJobCommand,
} from "@aws-sdk/client-batch";
import type { Clock } from "../../core/ports";
import type { JobOutcome } from "../../core/runs/attempts";
import { JobRefusedError } from "../../core/runs/errors";
import { type JobDefinitions, type JobRequest, jobNameOf, type TrainingJobs } from "../../core/runs/ports";
import { containersOf, type JobKind } from "../../core/runs/run";
import type { RunKeys } from "../../core/runs/run-key";
import { trainerExitCodes } from "../../core/runs/training-task";
import { spansOfJob, type WorkerSpan } from "../../core/runs/usage";
import { withSharedJobs } from "../../core/training/shared-jobs";
import type { PlatformConfig } from "../../platform/config";
import { describeJobDefinitions, lookAtJobs, submitJobs, terminateJobs } from "../../platform/permissions/grants";
import { schedulingOf } from "../../platform/shares";
import { gpuQueueOf } from "../../platform/trainer-job";
import { runKeys } from "../dynamodb/run-keys";
import { sharedJobs } from "../dynamodb/shared-jobs";
import { sharedPort } from "../port";

/** Describes jobs, a hundred per call (Batch's limit). */
async function describeAll(client: BatchClient, ids: readonly string[]): Promise<readonly JobDetail[]> {
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
function spansOf({ jobId, status, startedAt, attempts = [] }: JobDetail): readonly WorkerSpan[] {
  const ended = attempts.map(({ container, ...times }) => ({ ...times, exitCode: container?.exitCode }));
  return spansOfJob(jobId, ended, status === "RUNNING" ? startedAt : undefined);
}

/** Returns the failed children of an array, because Batch records an array's failure there. */
async function failedChildren(client: BatchClient, job: JobDetail): Promise<readonly JobDetail[]> {
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

/**
 * The time for which the newest revisions are cached. A run that begins in this time may use the revisions before them.
 */
const newestForMs = 60_000;

/**
 * Submits, describes and stops training jobs. The workers are an array of single-node jobs (one worker: a plain job)
 * that find each other through the platform's rendezvous. With placement `cluster` they are one multi-node parallel
 * job. Batch leaves a multi-node job on Spot RUNNABLE forever, so none is submitted.
 * @param once a client without retries. SubmitJob has no idempotency token, and a job may exist although the answer was
 * lost.
 */
export function createTrainingJobs(
  client: BatchClient,
  once: BatchClient,
  config: Pick<PlatformConfig, "jobQueues" | "gpuClasses" | "jobDefinitions" | "teamShares">,
  keys: Pick<RunKeys, "keyOf">,
  clock: Clock,
): TrainingJobs {
  let newest: { readonly definitions: JobDefinitions; readonly readAt: number } | undefined;

  function queueOf({ market, placement, gpusPerWorker, gpuClass }: JobRequest): string {
    const use = placement === "cluster" ? "cluster" : market === "spot" ? "spot" : "onDemand";
    if (gpusPerWorker === 0) return config.jobQueues[use];
    return gpuQueueOf(config.jobQueues[`${use}Gpu`], gpuClass, config.gpuClasses);
  }

  const keyOf = ({ runId, evaluation }: JobRequest): Promise<string> =>
    keys.keyOf(runId, evaluation === undefined ? "training" : "evaluation");

  /** Returns the newest active revision, which a submission by name alone would get. */
  async function newestRevision(jobDefinitionName: string): Promise<string> {
    let newest = 0;
    for (let nextToken: string | undefined, more = true; more; more = nextToken !== undefined) {
      const command = new DescribeJobDefinitionsCommand({ jobDefinitionName, status: "ACTIVE", nextToken });
      const page = await client.send(command);
      newest = Math.max(newest, ...(page.jobDefinitions ?? []).map(({ revision = 0 }) => revision));
      nextToken = page.nextToken;
    }
    return newest === 0 ? jobDefinitionName : `${jobDefinitionName}:${newest}`;
  }

  return {
    async find(request) {
      const jobName = jobNameOf(request);
      const filters = [{ name: "JOB_NAME", values: [jobName] }];
      const { jobSummaryList } = await client.send(new ListJobsCommand({ jobQueue: queueOf(request), filters }));
      return jobSummaryList?.find((job) => job.jobName === jobName)?.jobId;
    },

    async submit(request) {
      const jobName = jobNameOf(request);
      const job = new SubmitJobCommand({
        jobName,
        jobQueue: queueOf(request),
        ...schedulingOf(request.team, config.teamShares),
        ...shapeOf(request, await keyOf(request), request.definitions ?? config.jobDefinitions),
      });
      try {
        const { jobId } = await once.send(job);
        return { jobId: jobId as string };
      } catch (error) {
        if (isRefusal(error)) throw new JobRefusedError(jobName, error.message, error);
        throw error;
      }
    },

    async definitions() {
      if (newest && clock.now() - newest.readAt < newestForMs) return newest.definitions;
      const readAt = clock.now();
      const names = [config.jobDefinitions.single, config.jobDefinitions.gang] as const;
      const [single, gang] = await Promise.all(names.map(newestRevision));
      const definitions = { single: single as string, gang: gang as string };
      newest = { definitions, readAt };
      return definitions;
    },

    async describe(jobId) {
      const [job] = await describeAll(client, [jobId]);
      if (!job) return { status: "failed", hostLoss: false, reason: `Batch does not know job ${jobId}` };
      return outcomeOf(job, await failedChildren(client, job));
    },

    async spans(jobId, kind) {
      const jobs = await describeAll(client, workerJobsOf(jobId, kind));
      return jobs.flatMap(spansOf);
    },

    async terminate(jobId, reason) {
      // TerminateJob also succeeds for ended jobs.
      await client.send(new TerminateJobCommand({ jobId, reason }));
    },
  };
}

type JobShape = Pick<
  SubmitJobCommand["input"],
  "jobDefinition" | "arrayProperties" | "containerOverrides" | "nodeOverrides"
>;

function shapeOf(request: JobRequest, runKey: string, definitions: PlatformConfig["jobDefinitions"]): JobShape {
  const { workersPerHost: perHost = 1 } = request;
  const containers = containersOf(request);
  const overrides = {
    // Overrides are limited to 8 KiB. They contain the run, its team and its key. Everything else is in the store.
    environment: [
      { name: "RINGMASTER_RUN_ID", value: request.runId },
      { name: "RINGMASTER_TEAM", value: request.team },
      { name: "RINGMASTER_RUN_KEY", value: runKey },
      ...(perHost === 1 ? [] : [{ name: "RINGMASTER_HOST_WORKERS", value: String(perHost) }]),
      ...(request.segment === undefined ? [] : [{ name: "RINGMASTER_SEGMENT", value: String(request.segment) }]),
      ...(request.evaluation === undefined ? [] : [{ name: "RINGMASTER_EVALUATION", value: request.evaluation }]),
      ...(request.sharing === undefined
        ? []
        : [{ name: "RINGMASTER_SHARED_JOB", value: request.processPerTraining ? "processes" : "1" }]),
    ],
    resourceRequirements: [
      { type: "VCPU" as const, value: String(perHost * request.vcpusPerWorker) },
      { type: "MEMORY" as const, value: String(perHost * request.memoryMbPerWorker) },
      ...(request.gpusPerWorker > 0 ? [{ type: "GPU" as const, value: String(perHost * request.gpusPerWorker) }] : []),
    ],
  };
  if (request.placement === "cluster") {
    return {
      jobDefinition: definitions.gang,
      nodeOverrides: {
        numNodes: containers,
        nodePropertyOverrides: [{ targetNodes: "0:", containerOverrides: overrides }],
      },
    };
  }
  return {
    jobDefinition: definitions.single,
    containerOverrides: overrides,
    arrayProperties: containers > 1 ? { size: containers } : undefined,
  };
}

function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error) || error.name !== "ClientException") return false;
  const { httpStatusCode } = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata ?? {};
  return httpStatusCode !== 429 && !/too many requests|rate exceeded/i.test(error.message);
}

export const trainingJobs = sharedPort({
  uses: { keys: runKeys(), shared: sharedJobs() },
  grants: {
    look: [lookAtJobs, ...sharedJobs("list").grants],
    terminate: [terminateJobs, ...sharedJobs("find").grants],
    definitions: [describeJobDefinitions],
    submit: [...submitJobs, ...runKeys("read", "create").grants, ...sharedJobs("list", "save").grants],
  },
  make: ({ keys, shared }, { config, clock }) => {
    const jobs = createTrainingJobs(new BatchClient({}), new BatchClient({ maxAttempts: 1 }), config, keys, clock);
    return withSharedJobs(jobs, shared, clock);
  },
});
