import { type ExportedFile, type Exporter, type ExportSource, notInTensorFlowJs } from "../../core/export";
import { taskOf } from "../../core/features/encoding";
import { applier } from "./applier";
import { checkParity } from "./parity";
import { documents, transformDocument } from "./transform-document";

/** Shard size of TensorFlow.js's own exporter, which suits browser caches. */
const shardBytes = 4 * 1024 * 1024;

/** Exports a model for `tf.loadLayersModel`, and a module of its transform. @throws EXPORT_UNSUPPORTED */
export const toTfjs: Exporter = async (source) => {
  const { model, artifact, check, tools } = source;
  const [ownLayer] = model.ownLayers;
  if (ownLayer) throw notInTensorFlowJs(ownLayer);
  const weights = concatenated(model.weights.map(({ data }) => data));
  const shards = shardsOf(weights);
  const modelJson = modelJsonOf(
    source,
    shards.map(({ path }) => path),
  );
  const rows = check.rows.length;
  const { task } = taskOf(artifact.label);
  const predicted = await tools.runLayersModel({ modelJson, weights, task }, check.dense, rows);
  const difference = checkParity("model.json", predicted, check.predicted, rows);
  return [
    { path: "model.json", contentType: "application/json", body: modelJson, difference },
    ...shards,
    { path: "transform.mjs", contentType: "text/javascript", body: applier },
    ...documents(source),
  ];
};

function modelJsonOf({ artifact, files, model }: ExportSource, paths: readonly string[]): string {
  const { model: modelTopology } = JSON.parse(files.topology) as { readonly model: unknown };
  const weights = model.weights.map(({ name, shape }) => ({ name, shape, dtype: "float32" }));
  const { activation, label } = transformDocument(artifact);
  const document = {
    format: "layers-model",
    generatedBy: "ringmaster",
    convertedBy: null,
    modelTopology,
    weightsManifest: [{ paths, weights }],
    userDefinedMetadata: {
      model: artifact.model,
      run: artifact.runId,
      weightsSha256: artifact.weightsSha256,
      activation,
      label,
    },
  };
  return `${JSON.stringify(document)}\n`;
}

function shardsOf(weights: Uint8Array): readonly ExportedFile[] {
  const count = Math.max(1, Math.ceil(weights.length / shardBytes));
  return Array.from({ length: count }, (_, i) => ({
    path: `group1-shard${i + 1}of${count}.bin`,
    contentType: "application/octet-stream",
    body: weights.subarray(i * shardBytes, (i + 1) * shardBytes),
  }));
}

function concatenated(parts: readonly Float32Array[]): Uint8Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return new Uint8Array(whole.buffer);
}
