import * as fs from "node:fs";
import { join } from "node:path";
import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { type DatasetManifest, splitNames } from "../../core/datasets/shapes";
import { compilePlan, createRowFunction } from "../../core/feature-plans/compile";
import { decodeFeatureShard } from "../../core/features/encoding";
import type { FeatureManifest } from "../../core/features/shapes";
import { type ColumnBatch, type ColumnValues, textAt } from "../../core/features/values";
import type { ObjectStore } from "../../core/ports";

/** Output of `pipeline.py`. */
export interface PeerOutput {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly numeric: readonly string[];
  readonly codes: readonly string[];
  readonly fitted: Readonly<Record<string, Readonly<Record<string, number | readonly number[]>>>>;
}

export interface Comparison {
  readonly fitted: number;
  readonly fittedDifference: number;
  readonly sampled: number;
  readonly sampleDifference: number;
  readonly stored: number;
  readonly storedDifference: number;
  readonly differentStored: number;
  readonly codes: number;
  readonly differentCodes: number;
}

interface Compared {
  readonly folder: string;
  readonly every: number;
  readonly splits: Uint8Array;
  readonly objects: ObjectStore;
  readonly manifest: DatasetManifest;
  readonly features: FeatureManifest;
  readonly peer: PeerOutput;
}

/** Largest difference that counts as the same number. */
const tolerance = 1e-9;

/** Compares the numbers of both. @throws Error if one differs by more than 1e-9 */
export async function compareFeatures(input: Compared): Promise<Comparison> {
  const { transform } = input.features;
  const names = (kind: string) =>
    transform.outputs.filter((output) => output.kind === kind).map(({ column }) => column);
  if (
    String(names("numeric")) !== String(input.peer.numeric) ||
    String(names("one-hot")) !== String(input.peer.codes)
  ) {
    throw new Error("pipeline.py has other features than plan.ts, or another order");
  }
  const fitted = compareFitted(input);
  const result = { ...fitted, ...(await compareSample(input)), ...(await compareShards(input)) };
  const worst = Math.max(result.fittedDifference, result.sampleDifference);
  if (worst > tolerance || result.differentCodes > 0) {
    throw new Error(`the pipelines differ: ${JSON.stringify(result)}`);
  }
  return result;
}

function differenceOf(a: number, b: number): number {
  return Math.abs(a - b) / Math.max(1, Math.abs(a), Math.abs(b));
}

function compareFitted({ features, peer }: Compared) {
  const differences = Object.entries(peer.fitted).flatMap(([step, values]) =>
    Object.entries(values).flatMap(([name, theirs]) => {
      const ours = (features.transform.plan!.fitted[step] as Record<string, unknown>)[name];
      const [left, right] = [[ours].flat() as readonly number[], [theirs].flat()];
      return right.map((value, i) => differenceOf(left[i] ?? Number.NaN, value));
    }),
  );
  return { fitted: differences.length, fittedDifference: Math.max(...differences) };
}

/** Compares float64 values of some rows, before shards round them. */
async function compareSample({ folder, every, splits, objects, manifest, features, peer }: Compared) {
  const theirs = readArray(join(folder, "sample.f64"), Float64Array);
  const plan = features.transform.plan!;
  const numbers = [true, false].map((outOfFold) => {
    const compiled = compilePlan(plan, outOfFold);
    const rowFunction = createRowFunction(compiled);
    const at = compiled.outputs.flatMap(({ kind }, i) => (kind === "number" ? i : []));
    return (row: Record<string, unknown>) => {
      const values = rowFunction(row);
      return at.map((i) => values[i] ?? 0);
    };
  });
  const width = peer.numeric.length;
  let [sampled, sampleDifference] = [0, 0];
  await withDuckDb(async (session) => {
    for await (const batch of createShardSource(session, objects, manifest).read(manifest.schema)) {
      for (let row = 0; row < batch.rows; row += 1) {
        const number = batch.firstRow + row;
        if (number % every !== 0) continue;
        const ours = numbers[splits[number] === 0 ? 0 : 1]!(rowOf(batch, row));
        for (const [i, value] of ours.entries()) {
          sampleDifference = Math.max(sampleDifference, differenceOf(value, theirs[sampled + i]!));
        }
        sampled += width;
      }
    }
  });
  if (sampled !== theirs.length) throw new Error(`${theirs.length} values in the sample, but ${sampled} here`);
  return { sampled, sampleDifference };
}

/** Compares all values of all shards. */
async function compareShards({ folder, objects, features, peer }: Compared) {
  let [stored, storedDifference, differentStored, codes, differentCodes] = [0, 0, 0, 0, 0];
  for (const [index, split] of splitNames.entries()) {
    const theirs = readArray(join(folder, `numeric-${index}.f32`), Float32Array);
    const theirCodes = readArray(join(folder, `codes-${index}.i32`), Int32Array);
    let row = 0;
    for (const { sha256 } of features.splits[split].shards) {
      const shard = decodeFeatureShard(await objects.getContent(sha256), features);
      for (const [i, value] of shard.numeric.entries()) {
        const other = theirs[row * peer.numeric.length + i]!;
        if (value === other) continue;
        differentStored += 1;
        storedDifference = Math.max(storedDifference, differenceOf(value, other));
      }
      for (const [i, code] of shard.codes.entries()) {
        if (code !== theirCodes[row * peer.codes.length + i]) differentCodes += 1;
      }
      row += shard.rows;
      stored += shard.numeric.length;
      codes += shard.codes.length;
    }
  }
  return { stored, storedDifference, differentStored, codes, differentCodes };
}

function readArray<Values>(file: string, type: { new (buffer: ArrayBuffer): Values }): Values {
  const bytes = fs.readFileSync(file);
  return new type(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer);
}

/** Returns a row as a request has it. The flights have no bools. */
function rowOf({ columns }: ColumnBatch, row: number): Record<string, unknown> {
  const cellOf = (values: ColumnValues) => {
    if (values.kind === "string") return textAt(values, row);
    return values.kind === "number" && values.valid[row] === 0 ? null : values.values[row];
  };
  return Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, cellOf(values)]));
}
