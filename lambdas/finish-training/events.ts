import type { EventBridgeEvent } from "aws-lambda";
import type { JobEvent } from "../../core/training/job-event";
import { parseJobName } from "../../core/training/ports";

/** The part of a "Batch Job State Change" that we read; its detail has the shape of DescribeJobs. */
export interface BatchJobDetail {
  readonly jobName: string;
  readonly jobId: string;
  readonly status: string;
  readonly statusReason?: string;
  readonly createdAt?: number;
  readonly startedAt?: number;
  readonly arrayProperties?: { readonly index?: number; readonly size?: number };
  readonly nodeProperties?: { readonly numNodes?: number };
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

/** Whose job an event is about, and which worker it describes; `undefined` for other people's jobs. */
export function readJobEvent(detail: BatchJobDetail): JobEvent | undefined {
  const job = parseJobName(detail.jobName);
  if (!job) return undefined;
  const { createdAt } = detail;
  const ended = detail.status === "SUCCEEDED" || detail.status === "FAILED";
  const isParent = detail.arrayProperties?.size !== undefined && detail.arrayProperties.index === undefined;
  if (isParent) return { runId: job.runId, ended };
  return {
    runId: job.runId,
    ended,
    createdAt,
    worker: {
      workerIndex: detail.arrayProperties?.index ?? 0,
      jobId: detail.jobId,
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

/** A lost host says so in the attempt's status, whatever the container's own last word is. */
function hostLossOf(statusReason: string | undefined): string | undefined {
  return statusReason?.startsWith("Host EC2") ? statusReason : undefined;
}
