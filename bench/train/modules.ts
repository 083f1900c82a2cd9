import type { CnnDefinition, MlpDefinition, ModelDefinition, ModuleDefinition } from "../../core/runs/model-definition";
import { buildCnn, buildMlp } from "../../trainer-container/engine/built-in-models";
import type { ModelContext } from "../../trainer-container/engine/define-training";

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
    | ({ readonly type: "transformer" } & Transformer)
    | ({ readonly type: "wide-and-deep" } & WideAndDeep)
  );

/** Encoder layers with normalization before each part, over `inputShape[0]` causal positions of token ids. */
interface Transformer {
  readonly vocabulary: number;
  /** d. The hidden layer of each block has 4 d units. */
  readonly features: number;
  readonly heads: number;
  readonly layers: number;
  /** Rate at the four places of `nn.TransformerEncoderLayer`. 0: no dropout. */
  readonly dropout: number;
}

/** A linear part and a deep part over columns of ids and further columns of numbers. */
interface WideAndDeep {
  /** Number of ids of each of the first columns. */
  readonly vocabularies: readonly number[];
  /** Elements of a column's embedding in the deep part. */
  readonly units: number;
  readonly hidden: readonly number[];
}

/** A built-in model, or the layers of a module. `torch_models.py` builds the same. */
export type BenchModel = MlpDefinition | CnnDefinition | BenchModule;

interface Choice {
  readonly model: BenchModel;
  /** Trains a built-in model's layers as a user's module does. */
  readonly asModule?: boolean;
}

/** Returns the definition that the engine trains. */
export function definitionOf({ model, asModule = false }: Choice): ModelDefinition {
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
    case "transformer":
      return transformer(model, context);
    case "wide-and-deep":
      return wideAndDeep(model, context);
  }
}

/** Returns the number of ids in a column of the input. 0: the column has numbers. */
export function vocabularyOf(model: BenchModel, column: number): number {
  if (model.type === "text" || model.type === "transformer") return model.vocabulary;
  return model.type === "wide-and-deep" ? (model.vocabularies[column] ?? 0) : 0;
}

type Symbolic = ReturnType<ModelContext["tf"]["input"]>;
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

function transformer(spec: Of<"transformer">, { tf }: ModelContext) {
  const { features, heads, dropout, inputShape, outputs } = spec;
  const { layers } = tf;
  const norm = () => layers.layerNormalization({ axis: -1, epsilon: 1e-5 });
  const drop = (x: Symbolic) => (dropout === 0 ? x : (layers.dropout({ rate: dropout }).apply(x) as Symbolic));
  const add = (x: Symbolic, part: unknown) => layers.add().apply([x, drop(part as Symbolic)]) as Symbolic;
  const input = tf.input({ shape: [...inputShape] });
  const embedded = layers.embedding({ inputDim: spec.vocabulary, outputDim: features }).apply(input);
  let x = layers.positionalEmbedding().apply(embedded) as Symbolic;
  for (let layer = 0; layer < spec.layers; layer += 1) {
    x = add(x, layers.multiHeadAttention({ heads, causal: true, dropout }).apply(norm().apply(x)));
    const hidden = layers.gelu().apply(layers.dense({ units: 4 * features }).apply(norm().apply(x)));
    x = add(x, layers.dense({ units: features }).apply(drop(hidden as Symbolic)));
  }
  const pooled = layers.globalAveragePooling1d({}).apply(norm().apply(x));
  return tf.model({ inputs: input, outputs: layers.dense({ units: outputs }).apply(pooled) as Symbolic });
}

function wideAndDeep(spec: Of<"wide-and-deep">, { tf }: ModelContext) {
  const { vocabularies, units, hidden, inputShape, outputs } = spec;
  const { layers } = tf;
  const input = tf.input({ shape: [...inputShape] });
  const columns = (...positions: number[]) => layers.selectFeatures({ columns: positions }).apply(input) as Symbolic;
  const embeddings = (size: number) =>
    vocabularies.map((inputDim, column) => {
      const embedding = layers.embedding({ inputDim, outputDim: size }).apply(columns(column));
      return layers.flatten().apply(embedding) as Symbolic;
    });
  const [width = 0] = inputShape;
  const numbers = columns(...Array.from({ length: width - vocabularies.length }, (_, at) => vocabularies.length + at));
  let deep = layers.concatenate().apply([...embeddings(units), numbers]) as Symbolic;
  for (const count of hidden) deep = layers.dense({ units: count, activation: "relu" }).apply(deep) as Symbolic;
  const parts = [...embeddings(outputs), layers.dense({ units: outputs, useBias: false }).apply(numbers) as Symbolic];
  const logits = layers.add().apply([...parts, layers.dense({ units: outputs }).apply(deep) as Symbolic]);
  return tf.model({ inputs: input, outputs: logits as Symbolic });
}
