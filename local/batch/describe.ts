import { gpusOf, vcpusOf } from "./container";
import { batchArn, jobArn } from "./names";
import type { Need } from "./placement";
import type { Attempt, Container, Job, JobStatus, ListedJob } from "./types";

export type StatusSummary = Readonly<Partial<Record<JobStatus, number>>>;

/** Builds the `JobDetail` of DescribeJobs, which is also the `detail` of a "Batch Job State Change" event. */
export function describeJob(job: Job, summary: StatusSummary): Record<string, unknown> {
  return {
    jobArn: jobArn(job.jobId),
    jobName: job.jobName,
    jobId: job.jobId,
    jobQueue: batchArn(`job-queue/${job.queue}`),
    status: job.status,
    shareIdentifier: job.shareIdentifier,
    schedulingPriority: job.schedulingPriority,
    attempts: job.attempts.map(describeAttempt),
    statusReason: job.statusReason,
    createdAt: job.createdAt,
    retryStrategy: {
      attempts: job.retryStrategy.attempts ?? 1,
      evaluateOnExit: job.retryStrategy.evaluateOnExit ?? [],
    },
    startedAt: job.startedAt,
    stoppedAt: job.stoppedAt,
    dependsOn: [],
    jobDefinition: job.definition,
    parameters: job.parameters,
    container: describeContainer(job),
    nodeDetails: job.kind === "node" ? { nodeIndex: job.index, isMainNode: isMain(job) } : undefined,
    nodeProperties: job.nodeProperties,
    arrayProperties: arrayProperties(job, summary),
    timeout: job.timeoutSeconds === undefined ? undefined : { attemptDurationSeconds: job.timeoutSeconds },
    tags: job.tags,
    propagateTags: job.propagateTags,
    platformCapabilities: ["EC2"],
    isCancelled: false,
    isTerminated: job.terminated !== undefined,
  };
}

function arrayProperties(job: Job, summary: StatusSummary): object | undefined {
  if (job.kind === "array-child") return { index: job.index, size: job.size };
  if (job.kind !== "array") return undefined;
  const none = { SUBMITTED: 0, PENDING: 0, RUNNABLE: 0, STARTING: 0, RUNNING: 0, SUCCEEDED: 0, FAILED: 0 };
  return { size: job.size, statusSummary: { ...none, ...summary } };
}

function describeAttempt(attempt: Attempt): object {
  return {
    container: ending(attempt),
    startedAt: attempt.startedAt,
    stoppedAt: attempt.stoppedAt,
    statusReason: attempt.statusReason,
  };
}

function ending(container: Container): object {
  return {
    containerInstanceArn: container.containerInstanceArn,
    taskArn: container.taskArn,
    exitCode: container.exitCode,
    reason: container.reason,
    logStreamName: container.logStreamName,
    networkInterfaces: [],
  };
}

function describeContainer(job: Job): object | undefined {
  const { containerProperties: properties, container } = job;
  if (!properties) return undefined;
  const address = { privateIpv4Address: "127.0.0.1" };
  return {
    volumes: [],
    mountPoints: [],
    ulimits: [],
    secrets: [],
    ...properties,
    environment: properties.environment ?? [],
    resourceRequirements: properties.resourceRequirements ?? [],
    ...(container ? ending(container) : {}),
    networkInterfaces: container?.startedAt !== undefined && job.kind === "node" ? [address] : [],
  };
}

export function summarizeJob(job: ListedJob): Record<string, unknown> {
  const { container } = job;
  return {
    jobArn: jobArn(job.jobId),
    jobId: job.jobId,
    jobName: job.jobName,
    createdAt: job.createdAt,
    status: job.status,
    statusReason: job.statusReason,
    startedAt: job.startedAt,
    stoppedAt: job.stoppedAt,
    container: container && { exitCode: container.exitCode, reason: container.reason },
    arrayProperties:
      job.kind === "array" || job.kind === "array-child" ? { size: job.size, index: job.index } : undefined,
    nodeProperties:
      job.kind === "node"
        ? { isMainNode: isMain(job), numNodes: job.size, nodeIndex: job.index }
        : job.kind === "multi-node"
          ? { numNodes: job.size }
          : undefined,
    jobDefinition: job.definition,
  };
}

function isMain(job: Pick<Job, "index" | "mainNode">): boolean {
  return job.index === (job.mainNode ?? 0);
}

export function needOfJob(job: Job, children: readonly Job[]): Pick<Need, "vcpus" | "gpus"> {
  const containers = (children.length > 0 ? children : [job]).map(({ containerProperties }) => containerProperties);
  const total = (of: typeof vcpusOf) => containers.reduce((sum, container) => sum + of(container), 0);
  return { vcpus: total(vcpusOf), gpus: total(gpusOf) };
}
