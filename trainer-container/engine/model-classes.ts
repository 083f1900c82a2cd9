/** Refuses models that another process could not rebuild from the topology alone. */
import * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";
import { registerOwnLayers } from "../../adapters/tfjs/layers/register";
import { allLayers } from "./canonical-names";
import { ModelError } from "./errors";

type Layer = LayersModel["layers"][number];

registerOwnLayers();

/** Classes of layers and initializers that the predictor has, by name, read before user code could add others. */
const builtInClasses: ReadonlyMap<string, unknown> = new Map(
  Object.entries(tf.serialization.SerializationMap.getMap().classNameMap).map(([name, [type]]) => [name, type]),
);

const rule = "its artifact must load without user code. Use the layers of the context's tf.layers.";

/** @throws ModelError that names the class, or the layer that computes by code of the module */
export function checkClasses(model: LayersModel): void {
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const className = (value as { class_name?: unknown }).class_name;
    if (typeof className === "string" && !builtInClasses.has(className)) {
      throw new ModelError(`The model uses the class '${className}', which tf.layers does not have; ${rule}`);
    }
    Object.values(value).forEach(visit);
  };
  visit(model.toJSON(null, false));
  for (const layer of allLayers([model])) checkLayer(layer);
}

/** Refuses a layer whose class, activations or functions differ from those that the names stand for. */
function checkLayer(layer: Layer): void {
  const { activation, recurrentActivation } = layer as Activated;
  check(`layer '${layer.name}'`, layer);
  for (const each of [activation, recurrentActivation])
    if (each) check(`activation of the layer '${layer.name}'`, each);
}

interface Activated {
  readonly activation?: tf.serialization.Serializable | null;
  readonly recurrentActivation?: tf.serialization.Serializable | null;
}

function check(what: string, object: tf.serialization.Serializable): void {
  const className = object.getClassName();
  if (object.constructor !== builtInClasses.get(className)) {
    throw new ModelError(`The ${what} is of a class of its own that extends '${className}'; ${rule}`);
  }
  const replaced = Object.entries(object).find(
    ([name, value]) => typeof value === "function" && name in Object.getPrototypeOf(object),
  );
  if (replaced) throw new ModelError(`The function '${replaced[0]}' of the ${what} was replaced; ${rule}`);
}
