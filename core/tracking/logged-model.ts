import { busy, notFound, tooLarge } from "../errors";
import type { Lifecycle } from "./shapes";

/** A model that a client has logged: files in one place, optionally of a run (MLflow 3). */
export interface LoggedModel {
  /** `m-` and 32 hexadecimal digits. */
  readonly modelId: string;
  readonly team: string;
  readonly experimentId: string;
  readonly name: string;
  /** The type that the client gave: `Agent`, `Classifier`, or empty. */
  readonly modelType: string;
  readonly sourceRunId: string;
  /** `unspecified` if the client says so. */
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
  /** Creates the model, or returns the existing one with the same id. */
  create(model: LoggedModel): Promise<LoggedModel>;
  /** Returns the model, also if it is deleted. */
  find(modelId: string): Promise<LoggedModel | undefined>;
  /** Like `RunRecords.change`. @throws LOGGED_MODEL_NOT_FOUND, LOGGED_MODEL_BUSY, LOGGED_MODEL_TOO_LARGE */
  change(modelId: string, transition: (model: LoggedModel) => LoggedModel | undefined): Promise<LoggedModel>;
  /** Lists all models of the experiment, deleted ones included, in order of creation. */
  list(experimentId: string): Promise<readonly LoggedModel[]>;
}

/** Maximum number of points. The oldest are dropped. */
const maxMetrics = 1_000;

/** Adds points that are new. A point is identified by metric, time, step and run, as in MLflow. */
export function withModelMetrics(model: LoggedModel, points: readonly LoggedModelMetric[]): LoggedModel {
  const identity = ({ key, timestamp, step, runId }: LoggedModelMetric): string =>
    JSON.stringify([key, timestamp, step, runId]);
  const ids = new Set(model.metrics.map(identity));
  const added: LoggedModelMetric[] = [];
  for (const point of points) {
    const id = identity(point);
    if (!ids.has(id)) added.push(point);
    ids.add(id);
  }
  return added.length === 0 ? model : { ...model, metrics: [...model.metrics, ...added].slice(-maxMetrics) };
}

export const loggedModelNotFound = (modelId: string) =>
  notFound("LOGGED_MODEL_NOT_FOUND", `Logged model with ID '${modelId}' not found.`, { modelId });

export const loggedModelBusy = (modelId: string, rounds: number) =>
  busy("LOGGED_MODEL_BUSY", `others have changed logged model ${modelId} each of ${rounds} times; send it again`, {
    modelId,
  });

export const loggedModelTooLarge = (modelId: string, bytes: number, most: number) =>
  tooLarge(
    "LOGGED_MODEL_TOO_LARGE",
    `logged model ${modelId} would take ${bytes} bytes, but must take at most ${most}: keep large values in its files, nothing was changed`,
    { modelId, bytes, most },
  );
