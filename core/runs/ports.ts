import type { JobOutcome } from "./attempts";
import type { WorkerSpan } from "./usage";

/** Starts and stops the state machine's executions. An execution is named by its run. */
export interface Executions {
  /** Idempotent: starting a run's execution again finds the one that is there. */
  start(runId: string): Promise<void>;
  /** Quiet where it has ended or never was. */
  stop(runId: string, reason: string): Promise<void>;
  /** `undefined` where there is none. */
  status(runId: string): Promise<"running" | "succeeded" | "failed" | "timed-out" | "aborted" | undefined>;
}

/** Answers to a state that waits on a task token. Each is quiet where the token was answered or has timed out. */
export interface TaskTokens {
  succeed(token: string, output: unknown): Promise<void>;
  fail(token: string, error: string, cause: string): Promise<void>;
  heartbeat(token: string): Promise<void>;
}

export interface JobRequest {
  readonly runId: string;
  readonly team: string;
  readonly attempt: number;
  readonly workers: number;
  readonly market: "spot" | "on-demand";
  readonly gpusPerWorker: number;
  readonly vcpusPerWorker: number;
  readonly memoryMbPerWorker: number;
}

/** Training jobs in AWS Batch. */
export interface TrainingJobs {
  /** The job of that run and attempt, by its name: of a process that died between SubmitJob and its record. */
  find(request: JobRequest): Promise<string | undefined>;
  /**
   * Asks once: SubmitJob knows no idempotency token, so what is asked twice may be done twice.
   * @throws JobRefusedError where Batch does not take such a job, now or ever.
   */
  submit(request: JobRequest): Promise<{ readonly jobId: string }>;
  describe(jobId: string): Promise<JobOutcome>;
  /** When and where the job's workers ran, as far as Batch knows. */
  spans(jobId: string, request: Pick<JobRequest, "workers" | "market">): Promise<readonly WorkerSpan[]>;
  /** Quiet where it has ended. */
  terminate(jobId: string, reason: string): Promise<void>;
}

/** A Batch job's name says whose it is. */
export function jobNameOf(runId: string, attempt: number): string {
  return `${runId}-${attempt}`;
}

export function parseJobName(name: string): { readonly runId: string; readonly attempt: number } | undefined {
  const [, runId, attempt] = /^(run-[0-9a-z]+)-(\d+)$/.exec(name) ?? [];
  return runId === undefined ? undefined : { runId, attempt: Number(attempt) };
}

/** The job that a child of an array (`<job>:3`) or a node of a gang (`<job>#3`) belongs to. */
export function wholeJobOf(jobId: string): string {
  return jobId.split(/[:#]/)[0]!;
}
