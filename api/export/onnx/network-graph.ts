import { type Network, unsupportedLayer } from "../../../core/export";
import { type GraphBuilder, Value } from "./builder";
import { activationLayers, type Converter, denseLayers } from "./layers/dense";
import { recurrentLayers } from "./layers/recurrent";
import { maskOf, sequenceLayers } from "./layers/sequences";
import { mergeLayers, shapeLayers } from "./layers/shapes";
import { spatialLayers } from "./layers/spatial";

const converters: Readonly<Record<string, Converter>> = {
  ...denseLayers,
  ...spatialLayers,
  ...shapeLayers,
  ...mergeLayers,
  ...activationLayers,
  ...sequenceLayers,
  ...recurrentLayers,
};

const convertibleLayers: readonly string[] = Object.keys(converters).sort();

/** @returns the name of the logits or values, `[rows, outputs]` @throws EXPORT_UNSUPPORTED with the layer's name */
export function addNetwork(builder: GraphBuilder, network: Network, input: string): string {
  const values = new Map([[network.input, new Value(builder, network.inputShape, { last: input })]]);
  const masks = new Map<string, string | undefined>();
  for (const layer of network.layers) {
    const converter = Object.hasOwn(converters, layer.className) ? converters[layer.className] : undefined;
    if (!converter) throw unsupportedLayer(layer, `ONNX export supports ${convertibleLayers.join(", ")}`);
    const inputs = layer.inputs.map((id) => values.get(id)!);
    const conversion = { builder, layer, inputs, masks: layer.inputs.map((id) => masks.get(id)) };
    values.set(layer.id, converter(conversion));
    masks.set(layer.id, maskOf(conversion));
  }
  return values.get(network.output)!.last;
}
