import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeSafetensors } from "../../../core/safetensors";
import type { Customer } from "./files";

/** The part of an exported transform that is used here. */
interface Output {
  readonly kind: "numeric" | "one-hot";
  readonly column: keyof Customer;
  readonly offset: number;
  readonly mean?: number;
  readonly deviation?: number;
  readonly vocabulary?: readonly string[];
}

/**
 * Computes by hand what a model of two dense layers (tanh, then one logit) answers: from the weights and the transform that were
 * downloaded, with nothing of the platform but the reader of the file format.
 *
 * @param weights path of a safetensors file
 * @param directory holds `topology.json` and `transform.json` of an export
 * @returns each row's probability of `true`
 */
export function forward(weights: string, directory: string, rows: readonly Customer[]): readonly number[] {
  const { tensors } = decodeSafetensors(readFileSync(weights));
  const names = readJson<{ weights: readonly string[] }>(join(directory, "topology.json")).weights;
  const [kernel1, bias1, kernel2, bias2] = names.map((name) => Array.from(tensors[name]!.data as Float32Array));
  const { outputs, width } = readJson<{ transform: { outputs: readonly Output[]; width: number } }>(
    join(directory, "transform.json"),
  ).transform;
  return rows.map((row) => {
    const inputs: number[] = new Array(width).fill(0);
    for (const output of outputs) {
      if (output.kind === "numeric")
        inputs[output.offset] = (Number(row[output.column]) - output.mean!) / output.deviation!;
      else inputs[output.offset + output.vocabulary!.indexOf(String(row[output.column]))] = 1;
    }
    const hidden = dense(inputs, kernel1!, bias1!).map(Math.tanh);
    return 1 / (1 + Math.exp(-dense(hidden, kernel2!, bias2!)[0]!));
  });
}

function dense(inputs: readonly number[], kernel: readonly number[], bias: readonly number[]): readonly number[] {
  return bias.map((start, unit) =>
    inputs.reduce((sum, value, i) => sum + value * kernel[i * bias.length + unit]!, start),
  );
}

export function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
