import type { Precision } from "../../core/runs/hyperparameters";
import { BadOptionError, checked, list, parseOptions } from "../support/arguments";
import { precisionModels } from "./models";

const narrow = ["bfloat16", "float16"] as const;

export interface PrecisionOptions {
  readonly models: readonly string[];
  readonly seeds: readonly number[];
  readonly epochs: number;
  /** With float32, against which the others are compared. */
  readonly precisions: readonly Precision[];
  readonly json: boolean;
}

/** @throws Error for an option that is not known */
export function parsePrecisionOptions(args: readonly string[]): PrecisionOptions {
  const known = Object.keys(precisionModels);
  const values = parseOptions(args, { models: known.join(), seeds: "3", epochs: "5", precisions: "bfloat16,float16" });
  return {
    models: list(values.models).map((each) => checked("models", each, known)),
    seeds: Array.from({ length: count("seeds", values.seeds) }, (_, index) => index + 1),
    epochs: count("epochs", values.epochs),
    precisions: ["float32", ...list(values.precisions).map((each) => checked("precisions", each, narrow))],
    json: values.json,
  };
}

function count(option: string, value: string): number {
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  throw new BadOptionError(`--${option} is '${value}', but must be a whole number from 1 on`);
}
