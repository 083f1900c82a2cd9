import type { Exporter } from "../../core/export";
import { toSavedModelFile } from "./saved-model/translate";
import { checkedGraph } from "./to-onnx";
import { documents } from "./transform-document";

/**
 * Exports a folder that TensorFlow Serving and `tf.saved_model.load` read. `saved_model.pb` takes raw rows like
 * `model.onnx`, and gives what that gives. The platform has no TensorFlow where exports are made, so it runs the graph as
 * ONNX and does not run the translated file.
 */
export const toSavedModel: Exporter = async (source) => {
  const runtime = source.tools.startOnnxRuntime();
  try {
    const { graph, inputs } = await checkedGraph(source, runtime);
    const { label } = source.artifact;
    const classes = label.kind === "class" ? { classes: label.classes } : {};
    const metadata = `${JSON.stringify({ ...graph.metadata, ...classes, columns: inputs }, null, 1)}\n`;
    return [
      { path: "saved_model.pb", contentType: "application/octet-stream", body: toSavedModelFile(graph) },
      { path: "metadata.json", contentType: "application/json", body: metadata },
      ...documents(source),
    ];
  } finally {
    await runtime.close();
  }
};
