import type { Platform } from "../../adapters/platform";
import { schemaHashOf, versionDigestOf } from "../../core/datasets/identity";
import { registerDataset } from "../../core/datasets/register";
import type { DatasetDraft } from "../../core/datasets/shapes";
import { objectKeys } from "../../core/object-keys";
import { type JobInput, jobSchema } from "../../core/runs/job";
import type { NumericsRecord, Run, StepRecord } from "../../core/runs/shapes";
import type { TrainingResult } from "../../core/runs/training-task";
import { type FirstRecord, keptAtFirst } from "../../core/tracking/records/training-record";

export const numerics: NumericsRecord = {
  backend: "wasm",
  device: "cpu",
  libraries: { "tfjs-core": "4.22.0" },
  threads: { intraOp: 1, interOp: 1 },
  cpu: { model: "test", features: [] },
  switches: {},
  node: "v20.0.0",
  platform: "linux",
  arch: "x64",
};

export const jobInput = (more: Partial<JobInput> = {}): JobInput => ({
  experiment: "digits",
  registerAs: more.experiment ?? "digits",
  dataset: "digits",
  model: { type: "mlp", hidden: [8] },
  evaluation: { thresholds: { accuracy: 0.9 } },
  ...more,
});

export const preparedFeatures = {
  step: "PrepareFeatures",
  inputHash: "h",
  output: { featureManifestKey: "k", digest: "d", width: 1, rows: { train: 1, validation: 1, test: 1 } },
  startedAt: "2026-01-01T00:00:00.000Z",
  finishedAt: "2026-01-01T00:00:01.000Z",
} as const satisfies StepRecord;

/** Creates a run whose training may begin: its features are prepared, and its task token is there. */
export async function createTrainable(runs: Platform["runs"], run: Run): Promise<void> {
  const { runId } = run;
  await runs.create(run);
  await runs.recordStep(runId, preparedFeatures);
  await runs.enterPhase(runId, "LaunchTraining", "2026-01-01T00:00:02.000Z");
  await runs.putTaskToken(runId, "LaunchTraining", `token-${runId}`);
}

const job = jobSchema.parse(jobInput());
export const runOf = (runId: string, more: Partial<Run> = {}): Run => ({
  runId,
  team: "default",
  status: "queued",
  job,
  dataset: { name: "digits", version: 1, digest: "d".repeat(64) },
  model: "digits",
  code: {},
  noCache: false,
  requestDigest: "r",
  createdBy: "tester",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  ...more,
});

/** The record that is written with a run. */
export const recordOfRun = (run: Run): FirstRecord => ({
  identity: { runId: run.runId, team: run.team, experimentId: "0", source: "training" },
  kept: keptAtFirst(run, "artifacts"),
});

export const resultOf = (runId: string): TrainingResult => ({
  runId,
  weights: { sha256: "a".repeat(64), bytes: 4 },
  topology: { sha256: "b".repeat(64), bytes: 2 },
  weightsSha256: "a".repeat(64),
  steps: 10,
  epochs: 1,
  metrics: { "train/loss": 0.5 },
  numerics,
  backend: "wasm",
  generations: 1,
  finishedAt: "2026-01-01T00:00:00.000Z",
});

/** Stores a result of a run with its files, as a trainer does. */
export async function storeResult(objects: Platform["objects"], runId: string): Promise<TrainingResult> {
  const [weights, topology] = await Promise.all([objects.putContent("weights"), objects.putContent("{}")]);
  const result = { ...resultOf(runId), weights, topology, weightsSha256: weights.sha256 };
  await objects.put(objectKeys.trainingResult(runId), JSON.stringify(result));
  return result;
}

/** A registered dataset whose content is there but means nothing: for tests of what stands around it. */
export async function registerTestDataset(platform: Platform, name = "digits", rows = 100): Promise<DatasetDraft> {
  const shard = await platform.objects.putContent(`shard of ${name} with ${rows} rows`);
  const index = async (count: number) => ({
    ...(await platform.objects.putContent(new Uint8Array(count * 4))),
    rows: count,
  });
  const train = rows - 20;
  const parts = {
    schema: [
      { name: "x", type: "float", role: "feature" },
      { name: "label", type: "int", role: "label" },
    ],
    shards: [{ ...shard, rows }],
    split: {
      seed: 0,
      fractions: { train: 0.8, validation: 0.1, test: 0.1 },
      stratifyBy: "label",
      indexes: { train: await index(train), validation: await index(10), test: await index(10) },
    },
  } as const;
  const draft: DatasetDraft = {
    name,
    digest: versionDigestOf(parts),
    ...parts,
    schemaHash: schemaHashOf(parts.schema),
    rowCount: rows,
    bytes: shard.bytes,
  };
  await registerDataset({ repository: platform.datasets, objects: platform.objects, clock: platform.clock }, draft);
  return draft;
}
