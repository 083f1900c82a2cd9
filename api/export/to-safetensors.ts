import { sha256 } from "../../core/digest";
import type { Exporter } from "../../core/export";
import { decodeSafetensors, encodeSafetensors } from "../../core/safetensors";
import { checkParity } from "./parity";
import { documents, transformDocument } from "./transform-document";

/** Exports `model.safetensors`: tensors by name, with the transform, the labels and the layers in its metadata. */
export const toSafetensors: Exporter = async (source) => {
  const { artifact, files, check, tools } = source;
  const { tensors } = decodeSafetensors(files.weights);
  const body = encodeSafetensors({
    tensors,
    metadata: {
      format: "ringmaster",
      model: artifact.model,
      run: artifact.runId,
      weights_sha256: artifact.weightsSha256,
      topology_sha256: sha256(files.topology),
      transform: JSON.stringify(transformDocument(artifact)),
    },
  });
  const loaded = await tools.loadModel({ topology: files.topology, weights: body });
  try {
    const rows = check.rows.length;
    const predicted = loaded.predict(check.dense, rows);
    const difference = checkParity("model.safetensors", predicted, check.predicted, rows);
    return [
      { path: "model.safetensors", contentType: "application/octet-stream", body, difference },
      { path: "topology.json", contentType: "application/json", body: files.topology },
      ...documents(source),
    ];
  } finally {
    loaded.dispose();
  }
};
