import { checked, list, parseOptions } from "../support/arguments";
import { benchModels } from "./models";

export interface TrainOptions {
  readonly models: readonly string[];
  readonly backends: readonly ("native" | "wasm")[];
  readonly worldSizes: readonly number[];
  readonly batches: readonly number[];
  /** V of our rows, in addition to V = W. */
  readonly microBatches: readonly number[];
  readonly rounds: number;
  /** Approximate seconds of training per gang and round. */
  readonly seconds: number;
  /** Seconds that each gang trains before the rounds. V8 compiles during the first 5,000 steps. */
  readonly warmUpSeconds: number;
  readonly json: boolean;
}

const numbers = (value: string) => list(value).map(Number);

/** @throws Error on an unknown option, model or backend */
export function parseTrainOptions(args: readonly string[]): TrainOptions {
  const values = parseOptions(args, {
    models: Object.keys(benchModels).join(),
    backends: "native,wasm",
    workers: "1,2",
    batches: "128",
    microBatches: "8",
    rounds: 7,
    seconds: 1,
    warmUp: 8,
  });
  const names = Object.keys(benchModels);
  return {
    models: list(values.models).map((model) => checked("models", model, names)),
    backends: list(values.backends).map((backend) => checked("backends", backend, ["native", "wasm"] as const)),
    worldSizes: numbers(values.workers),
    batches: numbers(values.batches),
    microBatches: numbers(values.microBatches),
    rounds: values.rounds,
    seconds: values.seconds,
    warmUpSeconds: values.warmUp,
    json: values.json,
  };
}
