import type { JsonObject } from "../json";

export type ExecutionStatus = "RUNNING" | "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";

export interface MachineRecord {
  readonly name: string;
  readonly definition: string;
  readonly roleArn: string;
  /** Undefined until the first update, as on AWS. */
  readonly revisionId?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly logging: JsonObject;
  readonly tracing: JsonObject;
}

export interface ExecutionSummary {
  readonly machine: string;
  readonly name: string;
  readonly status: ExecutionStatus;
  readonly input: string;
  readonly startedAt: number;
  readonly stoppedAt?: number;
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
  readonly traceHeader?: string;
  /** The definition when the execution started. The execution keeps it until its end. */
  readonly definition: string;
  readonly roleArn: string;
  readonly revisionId?: string;
  /** The execution that waits for this child of a distributed Map. */
  readonly parent?: { readonly machine: string; readonly name: string };
}
