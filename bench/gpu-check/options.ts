import type { Precision } from "../../core/runs/hyperparameters";
import { parseModelsOptions } from "../models/options";
import { BadOptionError, checked, list, parseOptions } from "../support/arguments";
import type { BenchModel } from "../train/modules";

export interface GpuCheckOptions {
  readonly device: "gpu" | "cpu";
  /** By the label of their rows. */
  readonly models: Readonly<Record<string, BenchModel>>;
  readonly precisions: readonly Precision[];
  readonly batchSize: number;
  readonly seconds: number;
}

/** @throws Error on an unknown option or value */
export function parseGpuCheckOptions(args: readonly string[]): GpuCheckOptions {
  const values = parseOptions(args, {
    device: "gpu",
    models: "cnn,residual,transformer",
    precisions: "float32,tf32,bfloat16,float16",
    batch: "128",
    seconds: 10,
  });
  const known = ["float32", "tf32", "bfloat16", "float16"] as const;
  const [batchSize, seconds] = [Number(values.batch), values.seconds];
  if (!Number.isInteger(batchSize) || batchSize < 8 || batchSize % 8 !== 0)
    throw new BadOptionError(`--batch is '${values.batch}', but must be a multiple of 8`);
  if (!(seconds > 0)) throw new BadOptionError(`--seconds is '${values.seconds}', but must be more than 0`);
  return {
    device: checked("device", values.device, ["gpu", "cpu"] as const),
    models: parseModelsOptions(["--models", values.models]).models,
    precisions: list(values.precisions).map((each) => checked("precisions", each, known)),
    batchSize,
    seconds,
  };
}
