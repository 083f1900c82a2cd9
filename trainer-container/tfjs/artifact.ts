import { documentLimits, parseJson } from "../../core/json-text";
import type { Task } from "../../core/runs/model-definition";

/** A model artifact cannot be read, or a predictor was used with wrong shapes. */
export class ModelArtifactError extends Error {
  readonly code = "INVALID_MODEL_ARTIFACT";
  readonly httpStatus = 422;
  readonly retryable = false;

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ModelArtifactError";
  }
}

export const artifactFormat = "ringmaster/layers-model@1";

/** The content of `topology.json`: the layers of a model with logits or values as output, and how to read them. */
export interface ModelTopology {
  readonly format: typeof artifactFormat;
  readonly task: Task;
  /** The shape of one row. */
  readonly inputShape: readonly number[];
  readonly outputs: number;
  /** The names of the tensors in `weights.safetensors`, in the order of the model's weights. */
  readonly weights: readonly string[];
  /** The TensorFlow.js layers topology: `{class_name, config, …}`. */
  readonly model: Readonly<Record<string, unknown>>;
}

const tasks: readonly string[] = ["classification", "binary", "regression"];

/** Parses `topology.json`. @throws ModelArtifactError that names the invalid field */
export function parseTopology(json: string): ModelTopology {
  let value: unknown;
  try {
    value = parseJson(json, documentLimits);
  } catch (error) {
    throw new ModelArtifactError(`The model's topology is not JSON: ${(error as Error).message}`, error);
  }
  if (typeof value !== "object" || value === null)
    throw new ModelArtifactError("The model's topology is not an object.");
  const fields = value as Partial<Record<keyof ModelTopology, unknown>>;
  const require = (field: keyof ModelTopology, holds: boolean, rule: string): void => {
    if (holds) return;
    throw new ModelArtifactError(
      `The model's topology has ${field} = ${JSON.stringify(fields[field])?.slice(0, 80)}, but it must be ${rule}.`,
    );
  };
  const isPositive = (n: unknown): boolean => Number.isSafeInteger(n) && (n as number) > 0;
  require("format", fields.format === artifactFormat, `'${artifactFormat}'`);
  require("task", tasks.includes(fields.task as string), `one of ${tasks.join(", ")}`);
  require("inputShape", Array.isArray(fields.inputShape) && fields.inputShape.every(isPositive), "a list of sizes");
  require("outputs", isPositive(fields.outputs), "a positive integer");
  require("weights", Array.isArray(fields.weights) &&
    fields.weights.every((name) => typeof name === "string"), "a list of tensor names");
  require("model", typeof fields.model === "object" && fields.model !== null, "a layers topology");
  return value as ModelTopology;
}

/** Logits to probabilities in place. Plain JavaScript, so training, evaluation and serving get the same bits. */
export function applyOutputActivation(task: Task, values: Float32Array, outputs: number): Float32Array {
  if (task === "binary") for (let i = 0; i < values.length; i++) values[i] = 1 / (1 + Math.exp(-(values[i] as number)));
  if (task === "classification") {
    for (let start = 0; start < values.length; start += outputs) softmaxRow(values.subarray(start, start + outputs));
  }
  return values;
}

function softmaxRow(row: Float32Array): void {
  let largest = Number.NEGATIVE_INFINITY;
  for (const value of row) if (value > largest) largest = value;
  let sum = 0;
  for (let i = 0; i < row.length; i++) {
    const exponential = Math.exp((row[i] as number) - largest);
    row[i] = exponential;
    sum += exponential;
  }
  for (let i = 0; i < row.length; i++) row[i] = (row[i] as number) / sum;
}
