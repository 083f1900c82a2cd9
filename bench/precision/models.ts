import type { ModelDefinition, ModuleDefinition } from "../../core/runs/model-definition";
import type { ModelContext } from "../../trainer-container/engine/define-training";
import { parseModelsOptions } from "../models/options";
import { type Digits, digitModels, loadDigits } from "../reduction/digits";
import { definitionOf } from "../train/modules";
import { drawTokens } from "./tokens";

const [rows, columns] = [28, 28];
const features = 64;

type Symbolic = ReturnType<ModelContext["tf"]["input"]>;

/** Two encoder layers over the rows of a digit, with normalization before each part. */
function transformer({ tf, outputs }: ModelContext) {
  const { layers } = tf;
  const norm = () => layers.layerNormalization({ axis: -1, epsilon: 1e-5 });
  const add = (x: Symbolic, part: unknown) => layers.add().apply([x, part as Symbolic]) as Symbolic;
  const input = tf.input({ shape: [rows * columns] });
  const tokens = layers.dense({ units: features }).apply(layers.reshape({ targetShape: [rows, columns] }).apply(input));
  let x = layers.positionalEmbedding().apply(tokens) as Symbolic;
  for (let layer = 0; layer < 2; layer += 1) {
    x = add(x, layers.multiHeadAttention({ heads: 4, dropout: 0.1 }).apply(norm().apply(x)));
    const hidden = layers.gelu().apply(layers.dense({ units: 4 * features }).apply(norm().apply(x)));
    x = add(x, layers.dense({ units: features }).apply(hidden));
  }
  const pooled = layers.globalAveragePooling1d({}).apply(norm().apply(x));
  return tf.model({ inputs: input, outputs: layers.dense({ units: outputs }).apply(pooled) as Symbolic });
}

const large = parseModelsOptions(["--models", "transformer"]).models["transformer, 4 layers, d = 256, context 128"]!;

export interface PrecisionModel {
  readonly definition: ModelDefinition;
  readonly load: () => Digits;
  readonly batchSize: number;
  /** Default: as requested. */
  readonly epochs?: number;
}

const onDigits = { load: loadDigits, batchSize: 128 };

/** The models by name. */
export const precisionModels: Readonly<Record<string, PrecisionModel>> = {
  mlp: { definition: digitModels.mlp, ...onDigits },
  cnn: { definition: digitModels.cnn, ...onDigits },
  transformer: {
    definition: {
      type: "module",
      inputShape: [rows * columns],
      outputs: 10,
      task: "classification",
      factory: transformer,
    } as unknown as ModuleDefinition,
    ...onDigits,
  },
  /** The transformer of `npm run bench -- models`, which is too slow for more steps. */
  "large-transformer": {
    definition: definitionOf({ model: large }),
    load: () => drawTokens(1_000, 128, { train: 1_280, validation: 500 }),
    batchSize: 16,
    epochs: 2,
  },
};
