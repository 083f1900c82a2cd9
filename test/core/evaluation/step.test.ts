import type { DatasetRepository } from "../../../core/datasets/repository";
import type { Champion } from "../../../core/evaluation/champion";
import { evaluationStep } from "../../../core/evaluation/step";
import type { LoadModel, WithRows } from "../../../core/evaluation/task";
import { encodeFeatureShard, shardLayout } from "../../../core/features/encoding";
import type { FeatureManifest } from "../../../core/features/shapes";
import { objectKeys } from "../../../core/object-keys";
import type { Phase } from "../../../core/runs/run-states";
import type { Run, RunDetails } from "../../../core/runs/shapes";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";

const noRows: WithRows = () => Promise.reject(new Error("there is no champion to read rows for"));
const datasets = {} as DatasetRepository;

async function setup() {
  const objects = createMemoryObjectStore();
  const transform: FeatureManifest["transform"] = {
    outputs: [{ kind: "numeric", column: "x", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 }],
    width: 1,
    shape: [1],
  };
  const bytes = encodeFeatureShard(
    {
      rows: 2,
      numeric: Float32Array.from([1, 0]),
      codes: new Int32Array(0),
      label: Int32Array.from([1, 0]),
      slices: new Int32Array(0),
    },
    shardLayout(transform),
  );
  const shard = { ...(await objects.putContent(bytes)), rows: 2 };
  const features: FeatureManifest = {
    inputHash: "f00",
    dataset: { name: "toy", version: 1, digest: "d".repeat(64) },
    transform,
    label: { kind: "class", column: "y", classes: [0, 1] },
    slices: [],
    splits: { train: { rows: 0, shards: [] }, validation: { rows: 0, shards: [] }, test: { rows: 2, shards: [shard] } },
  };
  const featureManifestKey = objectKeys.featureManifest("f00");
  await objects.put(featureManifestKey, JSON.stringify(features));
  const topology = await objects.putContent("{}");
  const weights = await objects.putContent("weights");
  const record = (step: Phase, output: unknown) => ({ step, inputHash: "", output, startedAt: "", finishedAt: "" });
  const details = (weightsSha256 = weights.sha256): RunDetails => ({
    run: { job: { evaluation: {}, resources: {} } } as Run,
    steps: [
      record("PrepareFeatures", { featureManifestKey, digest: "feature digest" }),
      record("LaunchTraining", { weights, topology, weightsSha256, metrics: {} }),
    ],
    attempts: [],
    workers: [],
    machines: [],
    recoveries: [],
    warnings: [],
  });
  return { objects, details, topology, weights };
}

describe("evaluationStep", () => {
  it("evaluates the run's own weights and lets go of the model", async () => {
    const { objects, details } = await setup();
    const seen: unknown[] = [];
    let disposed = 0;
    const load: LoadModel = async ({ topology, weights }) => {
      seen.push(topology, Buffer.from(weights).toString());
      return {
        predict: (inputs) => inputs,
        dispose: () => {
          disposed += 1;
        },
      };
    };
    const step = evaluationStep({ objects, datasets, loadModel: load, withRows: noRows }, undefined);
    const { metrics } = await step.execute(details().run, details(), "hash");
    expect(metrics["accuracy"]).toBe(1);
    expect([seen, disposed]).toEqual([["{}", "weights"], 1]);
  });

  it("lets go of the model where it fails, too", async () => {
    const { objects, details } = await setup();
    let disposed = 0;
    const load: LoadModel = async () => ({
      predict: (inputs) => inputs.map(() => Number.NaN),
      dispose: () => {
        disposed += 1;
      },
    });
    const step = evaluationStep({ objects, datasets, loadModel: load, withRows: noRows }, undefined);
    await expect(step.execute(details().run, details(), "hash")).rejects.toThrow(/predicts NaN for row 0/);
    expect(disposed).toBe(1);
  });

  it("is known by its features, weights and topology", async () => {
    const { objects, details, topology, weights } = await setup();
    const load: LoadModel = async () => ({ predict: (inputs) => inputs, dispose: () => undefined });
    const step = evaluationStep({ objects, datasets, loadModel: load, withRows: noRows }, undefined);
    expect(step.inputs(details().run, details())).toEqual({
      features: "feature digest",
      weightsSha256: weights.sha256,
      topology: topology.sha256,
      importance: 1,
    });
    expect(step.inputs(details().run, details("other"))).not.toEqual(step.inputs(details().run, details()));
    const champion = (weightsSha256: string) => ({
      version: 3,
      artifactKey: "runs/r/artifacts/manifest.json",
      artifact: { weightsSha256 } as Champion["artifact"],
    });
    const inputsWith = (weightsSha256: string) =>
      evaluationStep({ objects, datasets, loadModel: load, withRows: noRows }, champion(weightsSha256)).inputs(
        details().run,
        details(),
      );
    expect(inputsWith("another's")).toMatchObject({ champion: { version: 3, artifactKey: expect.any(String) } });
    expect(inputsWith(weights.sha256)).toEqual(step.inputs(details().run, details()));
  });
});
