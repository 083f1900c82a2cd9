import type { Job } from "../training/job";
import type { NumericsRecord } from "../training/numerics";
import type { CodeReference, MadeEnvironment, Phase, RunStatus } from "../training/run";
import type { Lifecycle } from "./experiment";

/** What never changes of a run: a process asks for it once. */
export interface RunIdentity {
  readonly runId: string;
  readonly team: string;
  readonly experimentId: string;
  /** `training`: made here, from a job. `logged`: made elsewhere, and told of by a client. */
  readonly source: "training" | "logged";
}

/**
 * What people and tools know of a run, whoever made it: of a training run derived from its job and its state, of a logged one as its client told it. The one
 * shape that search, compare, the registry and MLflow's clients see.
 */
export interface RunRecord extends RunIdentity {
  readonly name: string;
  readonly status: RunStatus;
  /** Of a training run that has begun. */
  readonly phase?: Phase;
  readonly lifecycle: Lifecycle;
  /** ISO 8601; present where the lifecycle is `deleted`. */
  readonly deletedAt?: string;
  /** A display name; of a logged run, the one that its client gave. */
  readonly createdBy: string;
  /** Ids of the people who submitted or logged it; absent where they are not known. */
  readonly submitters?: readonly string[];
  /** Milliseconds since the epoch, as the run's maker has them. */
  readonly startedAt: number;
  /** Of a training run that waits, or has waited, for an approval: the end of its own work. */
  readonly awaitingSince?: number;
  readonly endedAt?: number;
  /** Written once each. Of a training run its job's leaves by dotted path: `hyperparameters.learningRate`. */
  readonly params: Readonly<Record<string, string>>;
  /** May change at any time. Clients' own begin with `mlflow.`. */
  readonly tags: Readonly<Record<string, string>>;
  /** Markdown. */
  readonly notes: string;
  readonly parentRunId?: string;
  readonly datasets: readonly DatasetInput[];
  /** Logged models that it read, and those that it made. */
  readonly modelInputs: readonly string[];
  readonly modelOutputs: readonly { readonly modelId: string; readonly step: number }[];
  readonly code: RunCode;
  readonly environment: RunEnvironment;
  readonly seed?: number;
  /** Where clients are told to put artifacts: `<experiment's location>/<runId>/artifacts`. */
  readonly artifactUri: string;
  /** Of a training run. */
  readonly job?: Job;
  /** Of a training run that has trained. */
  readonly weightsSha256?: string;
  /** Id of the run whose training, with its metrics, this training run reuses. */
  readonly reusedFrom?: string;
  /** Grows with each change of what is kept of the run. */
  readonly revision: number;
}

/** Data that a run read. */
export interface DatasetInput {
  readonly name: string;
  readonly digest: string;
  /** Of a dataset that is registered here. */
  readonly version?: number;
  /** Whence and how, as the client says: MLflow's `source_type`, `source`, `schema`, `profile`. */
  readonly sourceType: string;
  readonly source: string;
  readonly schema?: string;
  readonly profile?: string;
  /** E.g. `{"mlflow.data.context": "training"}`. */
  readonly tags: Readonly<Record<string, string>>;
}

export interface RunCode extends CodeReference {
  readonly entryPoint?: string;
}

/** What it ran in. */
export interface RunEnvironment extends MadeEnvironment {
  readonly numerics?: NumericsRecord;
  readonly hardware?: {
    readonly instanceTypes: readonly string[];
    readonly cpu?: string;
    readonly gpu?: string;
  };
}

/** Whether a text can be a run's id at all: DynamoDB refuses a longer key. */
export function canBeRunId(text: string): boolean {
  return text.length > 0 && text.length <= 256;
}
