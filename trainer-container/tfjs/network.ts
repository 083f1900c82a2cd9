import type { LayersModel, SymbolicTensor } from "@tensorflow/tfjs-layers";
import type { Network, NetworkLayer, NetworkWeight } from "../../core/export";

type Layer = LayersModel["layers"][number];

/** The internal record of a layer's application, which TensorFlow.js's types do not contain. */
interface Application {
  readonly inputTensors: readonly SymbolicTensor[];
}

/** Reads a model's layers in the order of their computation. Nested models are flattened. The weights are copies. */
export function networkOf(model: LayersModel): Network {
  const layers: NetworkLayer[] = [];
  const ids = new Map<string, string>();
  const input = "input";

  /** Returns the id of the layer that computes a tensor. `given`: the ids behind the inputs of its model. */
  function visit(tensor: SymbolicTensor, given: ReadonlyMap<number, string>, path: string): string {
    const cached = given.get(tensor.id);
    if (cached !== undefined) return cached;
    const layer = tensor.sourceLayer;
    const id = `${path}${layer.name}:${tensor.nodeIndex}:${tensor.tensorIndex}`;
    const done = ids.get(id);
    if (done !== undefined) return done;
    const { inputTensors } = layer.inboundNodes[tensor.nodeIndex] as unknown as Application;
    const inputs = inputTensors.map((each) => visit(each, given, path));
    const result = isModel(layer) ? enter(layer, inputs, tensor.tensorIndex, `${id}/`) : id;
    if (!isModel(layer)) layers.push(describe(layer, id, inputs, tensor));
    ids.set(id, result);
    return result;
  }

  function enter(inner: LayersModel, inputs: readonly string[], output: number, path: string): string {
    const tensors = new Map(inner.inputs.map((tensor, index) => [tensor.id, inputs[index]!]));
    return visit(inner.outputs[output]!, tensors, path);
  }

  const output = enter(model, [input], 0, "");
  return { inputShape: model.inputs[0]!.shape.slice(1) as number[], input, output, layers };
}

function isModel(layer: Layer): layer is LayersModel {
  return Array.isArray((layer as Partial<LayersModel>).layers);
}

function describe(layer: Layer, id: string, inputs: readonly string[], output: SymbolicTensor): NetworkLayer {
  const isBidirectional = layer.getClassName() === "Bidirectional";
  const weights = layer.weights.map((weight): [string, NetworkWeight] => {
    const name = weight.originalName;
    const direction = !isBidirectional ? "" : name.includes("/backward_") ? "backward_" : "forward_";
    const data = Float32Array.from(weight.read().dataSync());
    return [direction + name.slice(name.lastIndexOf("/") + 1), { name, shape: weight.shape as number[], data }];
  });
  return {
    id,
    name: layer.name,
    className: layer.getClassName(),
    config: layer.getConfig(),
    inputs,
    outputShape: output.shape.slice(1) as number[],
    weights: Object.fromEntries(weights),
  };
}
