import { RingmasterError } from "../errors";
import type { Lifecycle } from "./experiment";

/** A model that a client has logged: files at one place, made by a run or by none. What MLflow 3 puts between runs and registered models. */
export interface LoggedModel {
  /** `m-` and 32 hexadecimal digits. */
  readonly modelId: string;
  readonly team: string;
  readonly experimentId: string;
  readonly name: string;
  /** As its maker says: `Agent`, `Classifier`, or nothing. */
  readonly modelType: string;
  readonly sourceRunId: string;
  /** `unspecified` where its client says so. */
  readonly status: "unspecified" | "pending" | "ready" | "failed";
  readonly lifecycle: Lifecycle;
  readonly params: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly metrics: readonly LoggedModelMetric[];
  readonly artifactLocation: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly revision: number;
}

/** Of a run that made or tested the model. */
export interface LoggedModelMetric {
  readonly key: string;
  readonly value: number;
  readonly timestamp: number;
  readonly step: number;
  readonly runId: string;
  readonly datasetName?: string;
  readonly datasetDigest?: string;
}

/** The port to a team's logged models. All reads are strongly consistent. */
export interface LoggedModels {
  /** Makes it, or answers the one that is there under the same id. */
  create(model: LoggedModel): Promise<LoggedModel>;
  /** Deleted ones too. */
  find(modelId: string): Promise<LoggedModel | undefined>;
  /** As `RunRecords.change`. @throws LoggedModelNotFoundError, LoggedModelBusyError, LoggedModelTooLargeError */
  change(modelId: string, transition: (model: LoggedModel) => LoggedModel | undefined): Promise<LoggedModel>;
  /** All of the experiment, deleted ones too, in the order in which they were made. */
  list(experimentId: string): Promise<readonly LoggedModel[]>;
}

/** Of more points the oldest go. */
const mostMetrics = 1_000;

/** Points that are there already add nothing. A point is known by its metric, time, step and run, as MLflow has it. */
export function withModelMetrics(model: LoggedModel, points: readonly LoggedModelMetric[]): LoggedModel {
  const identity = ({ key, timestamp, step, runId }: LoggedModelMetric): string =>
    JSON.stringify([key, timestamp, step, runId]);
  const known = new Set(model.metrics.map(identity));
  const added: LoggedModelMetric[] = [];
  for (const point of points) {
    const id = identity(point);
    if (!known.has(id)) added.push(point);
    known.add(id);
  }
  return added.length === 0 ? model : { ...model, metrics: [...model.metrics, ...added].slice(-mostMetrics) };
}

export class LoggedModelNotFoundError extends RingmasterError {
  constructor(modelId: string) {
    super(`Logged model with ID '${modelId}' not found.`, {
      code: "LOGGED_MODEL_NOT_FOUND",
      httpStatus: 404,
      details: { modelId },
    });
  }
}

export class LoggedModelBusyError extends RingmasterError {
  constructor(modelId: string, rounds: number) {
    super(`others have changed logged model ${modelId} each of ${rounds} times; send it again`, {
      code: "LOGGED_MODEL_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { modelId },
    });
  }
}

/** What is kept of it would not fit its row. Nothing was changed. */
export class LoggedModelTooLargeError extends RingmasterError {
  constructor(modelId: string, bytes: number, most: number) {
    super(
      `logged model ${modelId} would take ${bytes} bytes, but must take at most ${most}: keep large values in its files, nothing was changed`,
      { code: "LOGGED_MODEL_TOO_LARGE", httpStatus: 413, details: { modelId, bytes, most } },
    );
  }
}
