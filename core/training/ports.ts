import type { JobOutcome } from "./attempts";

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
  /** Finds the job of that run and attempt where it was submitted before (a crash between SubmitJob and its record), else submits. */
  submit(request: JobRequest): Promise<{ readonly jobId: string }>;
  describe(jobId: string): Promise<JobOutcome>;
  /** Quiet where it has ended. */
  terminate(jobId: string, reason: string): Promise<void>;
}

/** A Batch job's name says whose it is. */
export function jobNameOf(runId: string, attempt: number): string {
  return `${runId}-${attempt}`;
}

export function parseJobName(name: string): { readonly runId: string; readonly attempt: number } | undefined {
  const match = /^(run-[0-9a-z]+)-(\d+)$/.exec(name);
  return match ? { runId: match[1], attempt: Number(match[2]) } : undefined;
}
