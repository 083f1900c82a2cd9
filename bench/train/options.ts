import { parseArgs } from "node:util";
import { checked, list } from "../support/arguments";
import { benchModels } from "./models";

export interface TrainOptions {
  readonly models: readonly string[];
  readonly backends: readonly ("native" | "wasm")[];
  readonly worldSizes: readonly number[];
  readonly batches: readonly number[];
  /** V of our rows, in addition to V = W. */
  readonly microshards: readonly number[];
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
  const { values } = parseArgs({
    args: [...args],
    options: {
      models: { type: "string", default: Object.keys(benchModels).join() },
      backends: { type: "string", default: "native,wasm" },
      workers: { type: "string", default: "1,2" },
      batches: { type: "string", default: "128" },
      microshards: { type: "string", default: "8" },
      rounds: { type: "string", default: "7" },
      seconds: { type: "string", default: "1" },
      "warm-up": { type: "string", default: "8" },
      json: { type: "boolean", default: false },
    },
  });
  const names = Object.keys(benchModels);
  return {
    models: list(values.models).map((model) => checked("models", model, names)),
    backends: list(values.backends).map((backend) => checked("backends", backend, ["native", "wasm"] as const)),
    worldSizes: numbers(values.workers),
    batches: numbers(values.batches),
    microshards: numbers(values.microshards),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    warmUpSeconds: Number(values["warm-up"]),
    json: values.json,
  };
}
