import type { BenchModel } from "./modules";

/** Number of global batches in memory, used in turn. */
export const batchesInMemory = 8;

/** `cnn` is the built-in's default: filters 8 and 16, kernel 3, a hidden layer of 64. */
export const benchModels: Readonly<Record<string, BenchModel>> = {
  mlp: { type: "mlp", inputShape: [784], outputs: 10, task: "classification", hidden: [512, 256], activation: "relu" },
  cnn: {
    type: "cnn",
    inputShape: [28, 28, 1],
    outputs: 10,
    task: "classification",
    filters: [8, 16],
    kernelSize: 3,
    hidden: [64],
    activation: "relu",
  },
};
