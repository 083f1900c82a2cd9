export type { DatasetInput, RunCode, RunEnvironment, RunRecord } from "./shapes";

/** What never changes of a run: a process asks for it once. */
export interface RunIdentity {
  readonly runId: string;
  readonly team: string;
  readonly experimentId: string;
  /** `training`: made here, from a job. `logged`: made elsewhere, and told of by a client. */
  readonly source: "training" | "logged";
}

/** Whether a text can be a run's id at all: DynamoDB refuses a longer key. */
export function canBeRunId(text: string): boolean {
  return text.length > 0 && text.length <= 256;
}
