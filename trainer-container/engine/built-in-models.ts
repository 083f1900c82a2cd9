import * as layers from "@tensorflow/tfjs-layers";
import type { Activation, CnnDefinition, MlpDefinition } from "../../core/runs/model-definition";
import { ModelError } from "./errors";

/** Selects a variance-preserving initializer for ReLU (He et al. 2015), otherwise Glorot and Bengio 2010. */
function initializerFor(activation: Activation): "heNormal" | "glorotUniform" {
  return activation === "relu" || activation === "relu6" || activation === "elu" ? "heNormal" : "glorotUniform";
}

function addDenseLayers(model: layers.Sequential, definition: MlpDefinition | CnnDefinition): void {
  const activation = definition.activation ?? "relu";
  const dropout = definition.dropout ?? 0;
  definition.hidden.forEach((units, index) => {
    const name = `dense_${index + 1}`;
    model.add(layers.layers.dense({ name, units, activation, kernelInitializer: initializerFor(activation) }));
    if (dropout > 0) model.add(layers.layers.dropout({ name: `dropout_${index + 1}`, rate: dropout }));
  });
  model.add(layers.layers.dense({ name: "logits", units: definition.outputs, kernelInitializer: "glorotUniform" }));
  if (definition.label) {
    const { mean, deviation } = definition.label;
    model.add(layers.layers.rescaling({ name: "label", scale: deviation, offset: mean }));
  }
}

export function buildMlp(definition: MlpDefinition): layers.LayersModel {
  const model = layers.sequential({ name: "mlp" });
  model.add(layers.layers.inputLayer({ name: "input", inputShape: [...definition.inputShape] }));
  if (definition.inputShape.length > 1) model.add(layers.layers.flatten({ name: "flatten" }));
  addDenseLayers(model, definition);
  return model;
}

/** Returns the shape of an image. `[height, width]` has one channel. */
export function imageShape(inputShape: readonly number[]): [number, number, number] {
  const [height, width, channels = 1] = inputShape;
  if (inputShape.length < 2 || inputShape.length > 3 || height === undefined || width === undefined) {
    throw new ModelError(
      `A cnn takes rows of shape [height, width] or [height, width, channels]; inputShape is [${inputShape.join(", ")}].`,
    );
  }
  return [height, width, channels];
}

export function buildCnn(definition: CnnDefinition): layers.LayersModel {
  const [height, width, channels] = imageShape(definition.inputShape);
  const halvings = definition.filters.length;
  if (Math.min(height, width) < 2 ** halvings) {
    throw new ModelError(
      `A cnn of ${halvings} blocks halves its input ${halvings} times, so each side must be at least ${2 ** halvings}; ` +
        `inputShape is [${definition.inputShape.join(", ")}]. Use fewer filters entries.`,
    );
  }
  const activation = definition.activation ?? "relu";
  const model = layers.sequential({ name: "cnn" });
  model.add(layers.layers.inputLayer({ name: "input", inputShape: [...definition.inputShape] }));
  if (definition.inputShape.length === 2) {
    model.add(layers.layers.reshape({ name: "channel", targetShape: [height, width, channels] }));
  }
  definition.filters.forEach((filters, index) => {
    const name = `conv_${index + 1}`;
    const kernelInitializer = initializerFor(activation);
    const kernelSize = definition.kernelSize ?? 3;
    model.add(layers.layers.conv2d({ name, filters, kernelSize, padding: "same", activation, kernelInitializer }));
    model.add(layers.layers.maxPooling2d({ name: `pool_${index + 1}`, poolSize: 2 }));
  });
  model.add(layers.layers.flatten({ name: "flatten" }));
  addDenseLayers(model, definition);
  return model;
}
