import { checked, list, parseOptions } from "../support/arguments";
import { benchModels as trainModels } from "../train/models";
import type { BenchModel, BenchModule } from "../train/modules";

const classification = { outputs: 10, task: "classification" } as const;
const image = { inputShape: [28, 28, 1], ...classification } as const;
const recurrent = (cell: "lstm" | "gru", inputShape: readonly [number, number], units: number): BenchModule => ({
  type: "recurrent",
  cell,
  units,
  inputShape,
  ...classification,
});

const transformer = (dropout: number): BenchModule => ({
  type: "transformer",
  vocabulary: 1_000,
  features: 256,
  heads: 8,
  layers: 4,
  dropout,
  inputShape: [128],
  ...classification,
});

/** The models of each name. */
const modelsByName: Readonly<Record<string, Readonly<Record<string, BenchModel>>>> = {
  mlp: { "MLP 784-512-256-10": trainModels["mlp"]! },
  cnn: { "CNN 8-16-64": trainModels["cnn"]! },
  residual: { "residual CNN, 16 filters": { type: "residual", filters: 16, blocks: 3, ...image } },
  separable: { "separable CNN 32-64": { type: "separable", filters: [32, 64], ...image } },
  lstm: {
    "LSTM 16 × 8, 32 units": recurrent("lstm", [16, 8], 32),
    "LSTM 28 × 28, 64 units": recurrent("lstm", [28, 28], 64),
  },
  gru: {
    "GRU 16 × 8, 32 units": recurrent("gru", [16, 8], 32),
    "GRU 28 × 28, 64 units": recurrent("gru", [28, 28], 64),
  },
  text: {
    "text, 10,000 embeddings × 32": {
      type: "text",
      vocabulary: 10_000,
      units: 32,
      hidden: [64],
      inputShape: [64],
      ...classification,
    },
  },
  transformer: {
    "transformer, 4 layers, d = 256, context 128": transformer(0),
    "the same with dropout 0.1": transformer(0.1),
  },
  "wide-and-deep": {
    "wide and deep, 8 columns of 10,000 ids": {
      type: "wide-and-deep",
      vocabularies: Array.from({ length: 8 }, () => 10_000),
      units: 16,
      hidden: [256, 128],
      inputShape: [8 + 13],
      outputs: 2,
      task: "classification",
    },
  },
};

export interface ModelsOptions {
  /** By the label of their rows. */
  readonly models: Readonly<Record<string, BenchModel>>;
  readonly backends: readonly ("native" | "wasm")[];
  readonly batches: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly json: boolean;
}

/** @throws Error on an unknown option, model or backend */
export function parseModelsOptions(args: readonly string[]): ModelsOptions {
  const known = Object.keys(modelsByName);
  const values = parseOptions(args, {
    models: known.join(),
    backends: "native,wasm",
    batches: "32,128",
    rounds: 5,
    seconds: 0.5,
  });
  const names = list(values.models);
  const backends = list(values.backends);
  return {
    models: Object.assign({}, ...names.map((name) => modelsByName[checked("models", name, known)])),
    backends: backends.map((backend) => checked("backends", backend, ["native", "wasm"] as const)),
    batches: list(values.batches).map(Number),
    rounds: values.rounds,
    seconds: values.seconds,
    json: values.json,
  };
}
