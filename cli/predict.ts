import type { ApiClient } from "../client/api-client";
import { conflict, InvalidInputError, type Problem } from "../core/errors";
import { containerReason } from "../core/evaluation/container-model";
import { cutOf } from "../core/evaluation/decision";
import type { ModelArtifact } from "../core/evaluation/model-artifact";
import { createRowTransform, type RawRow } from "../core/features/transform";
import { download } from "./download";

/** The prediction for one row: the class that the model decides for, by default the most probable, and each class's probability, or the value. */
export type Prediction =
  | {
      readonly label: string | number | boolean;
      readonly probabilities: readonly { readonly label: string | number | boolean; readonly probability: number }[];
    }
  | { readonly value: number };

export interface LoadedModel {
  /** @throws InvalidInputError with every problem of every row */
  predict(rows: readonly RawRow[]): readonly Prediction[];
  dispose(): void;
}

export async function openPredictor(client: ApiClient, artifact: ModelArtifact): Promise<LoadedModel> {
  const transform = createRowTransform(artifact.transform, artifact.inputSchema);
  const predictor = await loadModel(client, artifact);
  return {
    predict(rows) {
      const outputs = predictor.predict(transform.apply(rows), rows.length);
      assertFinite(outputs, rows.length);
      return rows.map((_row, i) => predictionOf(artifact, outputs, i, rows.length));
    },
    dispose: () => predictor.dispose(),
  };
}

/** @throws InvalidInputError that names the rows whose outputs are NaN or infinite */
export function assertFinite(outputs: Float32Array, rows: number): void {
  const width = outputs.length / rows;
  const problems: Problem[] = [];
  const rule = "has no finite prediction; look for numbers beyond 3.4e38, the largest of 32 bits";
  for (let row = 0; row < rows && problems.length < 20; row++) {
    if (!outputs.subarray(row * width, (row + 1) * width).every(Number.isFinite)) {
      problems.push({ path: `rows[${row}]`, rule });
    }
  }
  if (problems.length > 0) throw new InvalidInputError("the rows cannot be predicted", problems);
}

export async function loadModel(client: ApiClient, artifact: ModelArtifact) {
  const reason = containerReason(artifact.model, artifact.container);
  if (reason) throw conflict("CONTAINER_MODEL", reason);
  const { topology, weights } = artifact;
  // Loaded only by these commands, because TensorFlow.js loads slowly.
  const { loadPredictor } = await import("../trainer-container/tfjs/predictor");
  const [json, tensors] = await Promise.all([download(client, topology.sha256), download(client, weights.sha256)]);
  return loadPredictor({ topology: new TextDecoder().decode(json), weights: tensors });
}

function predictionOf(
  { outputSchema, decision }: ModelArtifact,
  outputs: Float32Array,
  row: number,
  rows: number,
): Prediction {
  if (outputSchema.kind === "value") return { value: outputs[row]! };
  const { classes } = outputSchema;
  const width = outputs.length / rows;
  // A binary model returns only the probability of its second class.
  const of = (k: number): number =>
    width === 1 ? (k === 1 ? outputs[row]! : 1 - outputs[row]!) : outputs[row * width + k]!;
  const probabilities = classes.map((label, k) => ({ label, probability: of(k) }));
  if (decision && classes.length === 2) {
    return { label: classes[of(1) > cutOf(classes, decision) ? 1 : 0]!, probabilities };
  }
  return { label: probabilities.reduce((a, b) => (b.probability > a.probability ? b : a)).label, probabilities };
}
