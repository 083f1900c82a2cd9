import type { ColumnSchema } from "../../core/datasets/shapes";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import { taskOf } from "../../core/features/encoding";
import { fitColumnsOf } from "../../core/features/feature-columns";
import { FeatureFitter } from "../../core/features/fit";
import { planColumns } from "../../core/features/planned-fit";
import { plannedTransform } from "../../core/features/planned-rows";
import type { FeatureTransform, LabelEncoding } from "../../core/features/shapes";
import type { RawRow } from "../../core/features/transform";
import type { ObjectStore } from "../../core/ports";
import { storeArtifact } from "../../core/registry/artifact";
import type { ModelVersion } from "../../core/registry/model";
import type { Job } from "../../core/runs/job";
import type { CnnDefinition, ModelDefinition, ModuleDefinition } from "../../core/runs/model-definition";
import { encodeSafetensors } from "../../core/safetensors";
import { createEngine } from "../../trainer-container/engine/create-engine";
import { fitRows, planOf } from "../core/feature-plans/engines";
import { memoryRows } from "../core/features/memory-rows";
import { numerics } from "./fixtures";
import { versionRow } from "./registry";

/** A column of every type, with values missing where they may, and a label. */
export const columns: readonly ColumnSchema[] = [
  { name: "Beak (mm)", type: "float", role: "feature", nullable: true, minimum: 0 },
  { name: "probabilities", type: "int", role: "feature" },
  { name: "wheels", type: "int", role: "feature", values: [2, 4, 5] },
  { name: "island", type: "string", role: "feature", nullable: true },
  { name: "wet", type: "bool", role: "feature", nullable: true },
  { name: "seen", type: "timestamp", role: "feature", nullable: true },
  { name: "patch", type: "tensor", shape: [2, 2], role: "feature", nullable: true, minimum: 0, maximum: 255 },
];

const islands = ["Biscoe", "Dream", "", "Torgersen ✓"];

export const mixedRows: readonly RawRow[] = Array.from({ length: 24 }, (_, i) => ({
  "Beak (mm)": i % 7 === 0 ? null : 38 + ((i * 13) % 11),
  // Large, so that float32 would not tell its neighbours apart.
  probabilities: 1_000_000_000 + i * 3,
  wheels: [2, 4, 5][i % 3],
  island: i % 5 === 0 ? null : islands[i % islands.length],
  wet: i % 6 === 0 ? null : i % 2 === 0,
  seen: i % 8 === 0 ? null : `20${10 + i}-0${1 + (i % 9)}-1${i % 10}T0${i % 10}:59:59Z`,
  patch: i % 9 === 0 ? null : [i, 255 - i, (i * 7) % 255, 3],
  kind: ["b", "a", "c"][i % 3],
  late: i % 2 === 0,
  size: 100 + i,
}));

export const labels = {
  classification: { name: "kind", type: "string", role: "label" },
  binary: { name: "late", type: "bool", role: "label" },
  regression: { name: "size", type: "float", role: "label" },
} as const satisfies Readonly<Record<string, ColumnSchema>>;

/** Fits rows that are all in the training split. */
export async function fitted(
  schema: readonly ColumnSchema[],
  rows: readonly RawRow[],
  features: Partial<Job["features"]> = {},
) {
  const fitter = new FeatureFitter(fitColumnsOf(schema, [], { features }), {
    standardize: features.standardize ?? true,
  });
  for await (const batch of memoryRows(rows).read(schema)) fitter.add(batch, () => "train");
  return fitter.finish();
}

const steps = [
  { kind: "standardize", column: "Beak (mm)", impute: "median", indicator: true },
  { kind: "log", column: "probabilities", name: "log", output: false },
  { kind: "robust", column: "log", name: "scaled" },
  { kind: "minmax", column: "Beak (mm)", clip: true },
  { kind: "bucketize", column: "Beak (mm)", quantiles: 4 },
  { kind: "one-hot", column: "island", impute: "none" },
  { kind: "ordinal", column: "wheels" },
  { kind: "target", column: "island", target: "probabilities", foldBy: "wheels" },
  { kind: "cross", columns: ["island", "wet", "wheels"], name: "crossed" },
  { kind: "one-hot", column: "crossed", name: "cross" },
  { kind: "date", column: "seen", part: "dayOfYear" },
  { kind: "date", column: "seen", part: "weekend", name: "weekend" },
  { kind: "cycle", column: "seen", part: "month" },
  { kind: "ratio", numerator: "Beak (mm)", denominator: "wheels", name: "ratio" },
  { kind: "product", columns: ["Beak (mm)", "wheels"], name: "product" },
];

/** Fits a plan on rows that are all in the training split. */
export async function planned(label: keyof typeof labels, more: readonly object[] = []) {
  const plan = await fitRows(planOf([...steps, ...more]), planColumns(columns), mixedRows);
  const { label: encoding } = await fitted([...columns, labels[label]], mixedRows);
  return { transform: plannedTransform(plan), label: encoding };
}

/** A version whose model has the weights that it begins with, for these features. */
export async function registered(
  objects: ObjectStore,
  inputSchema: readonly ColumnSchema[],
  { transform, label }: { readonly transform: FeatureTransform; readonly label: LabelEncoding },
  model: { readonly hidden: readonly number[] } | CnnDefinition | ModuleDefinition,
): Promise<ModelVersion> {
  const engine = await createEngine({ preferred: "wasm", threads: 1 });
  const definition: ModelDefinition =
    "type" in model ? model : { type: "mlp", hidden: model.hidden, inputShape: transform.shape, ...taskOf(label) };
  const trainable = await engine.createModel(definition, 5);
  const flat = new Float32Array(trainable.parameterCount);
  trainable.readWeights(flat);
  const tensors = Object.fromEntries(
    trainable.layout.map(({ name, shape, offset, size }) => [
      name,
      { dtype: "F32" as const, shape, data: flat.slice(offset, offset + size) },
    ]),
  );
  const [weights, topology] = await Promise.all([
    objects.putContent(encodeSafetensors({ tensors })),
    objects.putContent(trainable.topology()),
  ]);
  trainable.dispose();
  const runId = "run-0123456789abcdef";
  const artifact: ModelArtifact = {
    format: 1,
    runId,
    model: "m",
    weights,
    topology,
    weightsSha256: weights.sha256,
    transform,
    label,
    inputSchema,
    outputSchema:
      label.kind === "value"
        ? { kind: "value", column: label.column }
        : { kind: "probabilities", classes: label.classes },
    numerics,
  };
  const artifactKey = await storeArtifact(objects, artifact);
  return versionRow("m", 1, { runId, artifactKey, weightsSha256: weights.sha256 });
}
