import type { EventBridgeEvent } from "aws-lambda";
import { parseJobName } from "../../core/runs/ports";
import type { JobEvent } from "../../core/training/job-event";

/** The parts of a "Batch Job State Change" that are read; its detail has the shape of DescribeJobs. */
export interface BatchJobDetail {
  readonly jobName: string;
  readonly jobId: string;
  readonly status: string;
  readonly statusReason?: string;
  readonly createdAt?: number;
  readonly startedAt?: number;
  readonly arrayProperties?: { readonly index?: number; readonly size?: number };
  /** Present for a gang as a whole. */
  readonly nodeProperties?: { readonly numNodes?: number; readonly mainNode?: number };
  /** Present for one node of a gang. */
  readonly nodeDetails?: { readonly nodeIndex?: number };
  readonly container?: { readonly logStreamName?: string };
  readonly attempts?: readonly {
    readonly container?: { readonly exitCode?: number; readonly reason?: string; readonly logStreamName?: string };
    readonly statusReason?: string;
    readonly startedAt?: number;
    readonly stoppedAt?: number;
  }[];
}

export interface ExecutionDetail {
  readonly name: string;
  readonly status: "RUNNING" | "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";
  readonly error?: string | null;
  readonly cause?: string | null;
}

export interface SpotWarningDetail {
  readonly "instance-id": string;
  readonly "instance-action": string;
}

export type FinishEvent =
  | EventBridgeEvent<"EC2 Spot Instance Interruption Warning", SpotWarningDetail>
  | EventBridgeEvent<"Batch Job State Change", BatchJobDetail>
  | EventBridgeEvent<"Step Functions Execution Status Change", ExecutionDetail>;

/** Returns the run of an event's job, and the worker that it describes; `undefined` for jobs of other programs. */
export function readJobEvent(detail: BatchJobDetail): JobEvent | undefined {
  const job = parseJobName(detail.jobName);
  if (!job) return undefined;
  const { createdAt } = detail;
  const ended = detail.status === "SUCCEEDED" || detail.status === "FAILED";
  const worker = workerOf(detail);
  if (!worker) return { runId: job.runId, ended };
  return {
    runId: job.runId,
    ended,
    ...(job.evaluates ? { evaluates: true } : {}),
    createdAt,
    worker: {
      ...worker,
      attempt: job.attempt,
      status: detail.status,
      startedAt: detail.startedAt,
      logStreamName: detail.container?.logStreamName,
      attempts: (detail.attempts ?? []).map((attempt) => ({
        exitCode: attempt.container?.exitCode,
        reason: hostLossOf(attempt.statusReason) ?? attempt.container?.reason ?? attempt.statusReason,
        startedAt: attempt.startedAt,
        stoppedAt: attempt.stoppedAt,
        logStreamName: attempt.container?.logStreamName,
      })),
    },
  };
}

/**
 * Returns the worker; `undefined` for an array or a gang as a whole. A gang's own event describes its main node once it
 * has that node's log. It is not documented whether nodes have events of their own, and a record without a log would
 * prevent the node's own record.
 */
function workerOf(detail: BatchJobDetail): { readonly workerIndex: number; readonly jobId: string } | undefined {
  const { jobId, arrayProperties, nodeProperties, nodeDetails, container, attempts = [] } = detail;
  if (nodeDetails?.nodeIndex !== undefined) return { workerIndex: nodeDetails.nodeIndex, jobId };
  if (arrayProperties?.index !== undefined) return { workerIndex: arrayProperties.index, jobId };
  if (arrayProperties?.size !== undefined) return undefined;
  if (nodeProperties?.numNodes === undefined) return { workerIndex: 0, jobId };
  const hasLog = [container, ...attempts.map((attempt) => attempt.container)].some((one) => one?.logStreamName);
  const main = nodeProperties.mainNode ?? 0;
  return hasLog ? { workerIndex: main, jobId: `${jobId}#${main}` } : undefined;
}

/** The attempt's status shows a lost host, whatever the container's own reason is. */
function hostLossOf(statusReason: string | undefined): string | undefined {
  return statusReason?.startsWith("Host EC2") ? statusReason : undefined;
}
