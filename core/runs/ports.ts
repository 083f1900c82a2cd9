import type { JobOutcome } from "./attempts";
import type { JobKind } from "./run";
import type { LogPage, WorkerRecord } from "./shapes";
import type { WorkerSpan } from "./usage";

/** Starts and stops the state machine's executions. Each segment of a run has its own (`segmentNameOf`). */
export interface Executions {
  /** Idempotent: a second call finds the running execution. */
  start(run: RunSegment): Promise<void>;
  /** Does nothing if the execution has ended or never existed. */
  stop(run: RunSegment, reason: string): Promise<void>;
  status(run: RunSegment): Promise<"running" | "succeeded" | "failed" | "timed-out" | "aborted" | undefined>;
}

/** The approval of a version, which has an execution of its own after its run's end. */
export interface ApprovalExecution {
  readonly team: string;
  readonly runId: string;
  readonly model: string;
  readonly version: number;
  /** Id of the request. A repetition finds the same execution. */
  readonly request: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

export interface ApprovalExecutions {
  /** Idempotent. Replaces an execution that has failed or was stopped. */
  startApproval(approval: ApprovalExecution): Promise<void>;
}

/** Answers a state that waits on a task token. Each method does nothing if the token was answered or has timed out. */
export interface TaskTokens {
  succeed(token: string, output: unknown): Promise<void>;
  fail(token: string, error: string, cause: string): Promise<void>;
  heartbeat(token: string): Promise<void>;
}

/** A segment of a run: the first one up to its first pause, or the one after each pause. */
export interface RunSegment {
  readonly runId: string;
  /** Absent for the first segment. */
  readonly segment?: number | undefined;
}

/** Returns the name of a segment's execution and gang. The first one is named by its run. */
export function segmentNameOf({ runId, segment = 0 }: RunSegment): string {
  return segment === 0 ? runId : `${runId}-${segment}`;
}

export function parseSegmentName(name: string): Required<RunSegment> {
  const [, runId = name, segment] = /^(run-[0-9a-z]+)-(\d+)$/.exec(name) ?? [];
  return { runId, segment: segment === undefined ? 0 : Number(segment) };
}

export interface JobRequest {
  readonly runId: string;
  readonly team: string;
  readonly attempt: number;
  /** Segment of the run that the job trains; absent for the first. */
  readonly segment?: number;
  /** Hash of the inputs of the evaluation that the job computes; absent: the job trains. */
  readonly evaluation?: string;
  readonly workers: number;
  /** Number of workers of each container. Default 1. */
  readonly workersPerHost?: number;
  readonly market: "spot" | "on-demand";
  readonly placement: "spread" | "cluster";
  readonly gpusPerWorker: number;
  /** Default: the deployment's first. */
  readonly gpuClass?: string;
  readonly vcpusPerWorker: number;
  readonly memoryMbPerWorker: number;
  /** Present if the job may train other trials of the study afterwards: digest of what they must have in common. */
  readonly sharing?: string;
  /** Whether each training of a shared job has a process of its own: the state of a user's module must not reach the next. */
  readonly processPerTraining?: boolean;
  /** Revisions of the job definitions. Default: the newest. */
  readonly definitions?: JobDefinitions;
}

/** Revisions of the trainer's job definitions, `name:3`: for an array or a plain job, and for a multi-node job. */
export interface JobDefinitions {
  readonly single: string;
  readonly gang: string;
}

export interface TrainingJobs {
  /**
   * Returns the job of a run and attempt by its name. It may come from a process that died between SubmitJob and its
   * record.
   */
  find(request: JobRequest): Promise<string | undefined>;
  /**
   * Submits a job. Not idempotent: SubmitJob has no idempotency token, so a repeated call may submit a second job.
   * @throws JobRefusedError if Batch refuses such a job permanently
   */
  submit(request: JobRequest): Promise<{ readonly jobId: string }>;
  /**
   * Returns the newest revisions of the job definitions. A run's first attempt records them, so that a deployment during
   * the run does not change the trainer's image under it.
   */
  definitions(): Promise<JobDefinitions>;
  describe(jobId: string): Promise<JobOutcome>;
  /** Returns when and where the job's workers ran, as far as Batch knows. */
  spans(jobId: string, request: JobKind): Promise<readonly WorkerSpan[]>;
  /** Does nothing if the job has ended, or no longer trains the run. */
  terminate(jobId: string, reason: string, runId: string): Promise<void>;
}

export function jobNameOf({
  runId,
  attempt,
  evaluation,
}: Pick<JobRequest, "runId" | "attempt" | "evaluation">): string {
  return `${runId}-${attempt}${evaluation === undefined ? "" : "-evaluation"}`;
}

export function parseJobName(
  name: string,
): { readonly runId: string; readonly attempt: number; readonly evaluates: boolean } | undefined {
  const [, runId, attempt, evaluation] = /^(run-[0-9a-z]+)-(\d+)(-evaluation)?$/.exec(name) ?? [];
  return runId === undefined ? undefined : { runId, attempt: Number(attempt), evaluates: evaluation !== undefined };
}

/** Returns the job to which a child of an array (`<job>:3`) or a node of a gang (`<job>#3`) belongs. */
export function wholeJobOf(jobId: string): string {
  return jobId.split(/[:#]/)[0]!;
}

export interface WorkerLogs {
  read(
    workers: readonly WorkerRecord[],
    query: { readonly worker?: number; readonly nextToken?: string; readonly workersPerHost: number },
  ): Promise<LogPage>;
}
