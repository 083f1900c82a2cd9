import type { ModelDefinition, ModuleDefinition } from "../../core/runs/model-definition";
import { buildCnn, buildMlp } from "../../trainer-container/engine/built-in-models";
import type { ModelContext } from "../../trainer-container/engine/define-training";
import type { BenchModel, Setup } from "../train/protocol";

interface Shape {
  readonly inputShape: readonly number[];
  readonly outputs: number;
  readonly task: "classification";
}

/** Layers of a user's module. `bench/train/torch_models.py` builds the same ones. */
export type BenchModule = Shape &
  (
    | { readonly type: "residual"; readonly filters: number; readonly blocks: number }
    | { readonly type: "separable"; readonly filters: readonly number[] }
    | { readonly type: "recurrent"; readonly cell: "lstm" | "gru"; readonly units: number }
    | { readonly type: "text"; readonly vocabulary: number; readonly units: number; readonly hidden: readonly number[] }
  );

/** Returns the definition that the engine trains. */
export function definitionOf({ model, asModule = false }: Pick<Setup, "model" | "asModule">): ModelDefinition {
  if (!asModule && (model.type === "mlp" || model.type === "cnn")) return model;
  const { inputShape, outputs, task } = model;
  const factory = (context: ModelContext) => layersOf(model, context);
  return { type: "module", inputShape, outputs, task, factory } as unknown as ModuleDefinition;
}

function layersOf(model: BenchModel, context: ModelContext) {
  switch (model.type) {
    case "mlp":
      return buildMlp(model);
    case "cnn":
      return buildCnn(model);
    case "residual":
      return residual(model, context);
    case "separable":
      return separable(model, context);
    case "recurrent":
      return recurrent(model, context);
    case "text":
      return text(model, context);
  }
}

type Of<T extends BenchModule["type"]> = Extract<BenchModule, { readonly type: T }>;

function residual({ filters, blocks, inputShape, outputs }: Of<"residual">, { tf }: ModelContext) {
  const { layers } = tf;
  const convolution = () => layers.conv2d({ filters, kernelSize: 3, padding: "same" });
  const input = tf.input({ shape: [...inputShape] });
  const stem = layers.batchNormalization({}).apply(convolution().apply(input));
  let x = layers.reLU().apply(stem);
  for (let block = 0; block < blocks; block += 1) {
    const normalized = layers.batchNormalization({}).apply(convolution().apply(x));
    const activated = layers.reLU().apply(normalized);
    const body = layers.layerNormalization({ axis: -1, epsilon: 1e-5 }).apply(convolution().apply(activated));
    x = layers.reLU().apply(layers.add().apply([x, body] as never));
  }
  const pooled = layers.globalAveragePooling2d({}).apply(x);
  return tf.model({ inputs: input, outputs: layers.dense({ units: outputs }).apply(pooled) as typeof input });
}

function separable({ filters, inputShape, outputs }: Of<"separable">, { tf: { sequential, layers } }: ModelContext) {
  const kernel = { kernelSize: 3, padding: "same", activation: "relu" } as const;
  const model = sequential();
  model.add(layers.inputLayer({ inputShape: [...inputShape] }));
  for (const count of filters) {
    model.add(layers.separableConv2d({ ...kernel, filters: count }));
    model.add(layers.maxPooling2d({ poolSize: 2 }));
  }
  model.add(layers.depthwiseConv2d(kernel));
  model.add(layers.globalAveragePooling2d({}));
  model.add(layers.dense({ units: outputs }));
  return model;
}

/** PyTorch's LSTM. TensorFlow.js's GRU resets the state before the recurrent product, PyTorch's after it. */
function recurrent({ cell, units, inputShape, outputs }: Of<"recurrent">, { tf }: ModelContext) {
  const { sequential, layers } = tf;
  const layer = layers[cell]({ units, inputShape: [...inputShape], recurrentActivation: "sigmoid" });
  return sequential({ layers: [layer, layers.dense({ units: outputs })] });
}

function text({ vocabulary, units, hidden, inputShape, outputs }: Of<"text">, { tf }: ModelContext) {
  const { sequential, layers } = tf;
  return sequential({
    layers: [
      layers.embedding({ inputDim: vocabulary, outputDim: units, inputShape: [...inputShape] }),
      layers.globalAveragePooling1d({}),
      ...hidden.map((count) => layers.dense({ units: count, activation: "relu" })),
      layers.dense({ units: outputs }),
    ],
  });
}
