import { type SignaturePort, savedModel } from "../../adapters/saved-model/graph-def";
import { type Exporter, unsupportedOperator } from "../../core/export";
import type { OnnxGraph, Port, TensorValue } from "./onnx/file";
import { NodeBuilder, prune, type Tensor } from "./saved-model/node-builder";
import { operators } from "./saved-model/operators";
import { checkedGraph } from "./to-onnx";
import { documents } from "./transform-document";

/**
 * Writes an ONNX graph as a `saved_model.pb`, weights as constants. @throws EXPORT_UNSUPPORTED with the operator's name
 */
export function toSavedModelFile({ operations, constants, inputs, outputs }: OnnxGraph): Uint8Array {
  const builder = new NodeBuilder();
  const tensors = new Map<string, Tensor>();
  const sizes = ({ dims }: Port): readonly number[] => dims.map((dim) => (typeof dim === "number" ? dim : -1));
  for (const port of inputs) tensors.set(port.name, builder.placeholder(port.type, sizes(port)));
  for (const [name, value] of Object.entries(constants)) tensors.set(name, addConstant(builder, value));
  for (const operation of operations) {
    const operator = Object.hasOwn(operators, operation.op) ? operators[operation.op] : undefined;
    if (!operator) throw unsupportedOperator(operation.op, "it has no translation to TensorFlow");
    const tensor = operator({
      builder,
      op: operation.op,
      attributes: operation.attributes,
      // An optional input that is absent has the empty name.
      inputs: operation.inputs.map((name) => tensors.get(name)!),
      constants: operation.inputs.map((name) => (Object.hasOwn(constants, name) ? constants[name] : undefined)),
    });
    tensors.set(operation.outputs[0]!, tensor);
  }
  const portOf = (port: Port): SignaturePort => {
    const value = { node: tensors.get(port.name)!.node, output: 0 };
    return { name: port.name, value, type: port.type, shape: sizes(port) };
  };
  const { nodes, signature } = prune(builder.nodes, { inputs: inputs.map(portOf), outputs: outputs.map(portOf) });
  return savedModel(nodes, signature);
}

function addConstant(builder: NodeBuilder, value: TensorValue): Tensor {
  if (value.type === "string") return builder.texts(value.data, value.dims);
  return builder.constant(value.type, value.data, value.dims);
}

/**
 * Exports a folder that TensorFlow Serving reads. Exports are made without TensorFlow, so the graph is checked as ONNX.
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
