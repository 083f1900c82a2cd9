export type { DatasetInput, RunCode, RunEnvironment, RunRecord } from "./shapes";

/** The immutable part of a run. A process reads it once. */
export interface RunIdentity {
  readonly runId: string;
  readonly team: string;
  readonly experimentId: string;
  /** `training`: executed here, from a job. `logged`: executed elsewhere, and recorded by a client. */
  readonly source: "training" | "logged";
}

/** Tests whether a text can be a run's id. DynamoDB refuses a longer key. */
export function canBeRunId(text: string): boolean {
  return text.length > 0 && text.length <= 256;
}
