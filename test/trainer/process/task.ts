import { readFileSync } from "node:fs";
import path from "node:path";
import { quoteText } from "../../../adapters/duckdb/session";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { encodeSplitIndex } from "../../../core/datasets/split-index";
import { sha256 } from "../../../core/digest";
import type { FeatureManifest } from "../../../core/features/shapes";
import { objectKeys } from "../../../core/object-keys";
import type { ObjectStore } from "../../../core/ports";
import type { TrainingResult, TrainingTask } from "../../../core/runs/training-task";
import { encodeRows, manifestOf } from "../../support/one-column";
import { taskOf } from "../loop/in-process";

const featureManifestKey = objectKeys.featureManifest("test");
const transform: FeatureManifest["transform"] = {
  outputs: [
    { kind: "numeric", column: "x", offset: 0, width: 6, source: 0, mean: 0, deviation: 1 },
    { kind: "one-hot", column: "colour", offset: 6, width: 60, source: 0, vocabulary: [...Array(60).keys()] },
  ],
  width: 66, // wide enough for sparse rows
  shape: [66],
};

/**
 * A small feature set in two shards a split, whose three classes follow from its columns.
 * @param trainRows of the training split's shards.
 */
export async function storeFeatures(store: ObjectStore, trainRows: readonly number[] = [500, 523]): Promise<void> {
  const splits: Record<string, FeatureManifest["splits"]["train"]> = {};
  for (const [split, phase, sizes] of [
    ["train", 0, trainRows],
    ["validation", 5_000, [130, 70]],
    ["test", 9_000, [40]],
  ] as const) {
    const shards = [];
    let first: number = phase;
    for (const rows of sizes) {
      const numeric = Float32Array.from({ length: rows * 6 }, (_, i) => Math.sin((first * 6 + i) * 12.9898) * 1.3);
      const codes = Int32Array.from({ length: rows }, (_, row) => (((first + row) * 7) % 61) - 1);
      const label = Int32Array.from({ length: rows }, (_, row) =>
        numeric[row * 6]! > 0.3 ? 0 : codes[row]! % 3 === 1 || numeric[row * 6 + 1]! > 0 ? 1 : 2,
      );
      shards.push({ ...(await store.putContent(encodeRows(transform, label, numeric, codes))), rows });
      first += rows;
    }
    splits[split] = { rows: sizes.reduce((sum: number, rows) => sum + rows, 0), shards };
  }
  const manifest = manifestOf(transform, ["a", "b", "c"], splits["train"]!, splits);
  await store.put(featureManifestKey, JSON.stringify(manifest));
}

/** 4 micro-batches of 8 rows; 31 steps an epoch. */
export async function storeTask(
  store: ObjectStore,
  runId: string,
  changes: Partial<TrainingTask> = {},
  hyperparameters: Partial<TrainingTask["hyperparameters"]> = {},
  segment = 0,
): Promise<void> {
  // With ELU the tape computes the gradients, so a run takes long enough to be interrupted in its middle. The weights have
  // nine blocks for a sharded optimizer to share.
  const model = { type: "mlp", hidden: [128], activation: "elu", dropout: 0.1 } as const;
  const checkpoint = { everySteps: 50, everySeconds: 600, keep: 3 };
  const task = taskOf(
    { runId, seed: 3, model, microBatches: 4, featureManifestKey, checkpoint, ...changes },
    {
      optimizer: "adamw",
      learningRate: 0.003,
      weightDecay: 0.01,
      warmupSteps: 5,
      batchSize: 32,
      epochs: 4,
      ...hyperparameters,
    },
  );
  await store.put(objectKeys.trainingTask(runId, segment), JSON.stringify(task));
}

export async function readResult(store: ObjectStore, runId: string): Promise<TrainingResult> {
  return JSON.parse(Buffer.from(await store.get(objectKeys.trainingResult(runId))).toString()) as TrainingResult;
}

/** The dataset version of a container's tasks: forty test rows, as the features have, and ten of each other split. */
export async function storeDataset(store: ObjectStore) {
  const shard = await withDuckDb(async (session) => {
    const file = path.join(session.directory, "rows.parquet");
    await session.run(`COPY (SELECT range AS x, 'a' AS y FROM range(60)) TO ${quoteText(file)} (FORMAT parquet)`);
    return readFileSync(file);
  });
  const rows = (from: number, count: number) => Uint32Array.from({ length: count }, (_, at) => from + at);
  const part = async (body: Uint8Array, count: number) => ({
    ...(await store.putContent(body)),
    rows: count,
  });
  const index = (from: number, count: number) => part(encodeSplitIndex(rows(from, count)), count);
  const indexes = { train: await index(0, 10), validation: await index(10, 10), test: await index(20, 40) };
  return {
    ...{ name: "d", version: 1, digest: sha256("d"), schemaHash: sha256("s"), rowCount: 60, bytes: shard.length },
    schema: [
      { name: "x", type: "int" as const, role: "feature" as const },
      { name: "y", type: "string" as const, role: "label" as const },
    ],
    shards: [await part(shard, 60)],
    split: { seed: 1, fractions: { train: 0.2, validation: 0.2, test: 0.6 }, indexes },
    createdAt: "2026-01-01T00:00:00.000Z",
  };
}
