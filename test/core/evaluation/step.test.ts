import type { DatasetRepository } from "../../../core/datasets/repository";
import type { Champion } from "../../../core/evaluation/champion";
import { evaluationStep } from "../../../core/evaluation/step";
import type { LoadModel, WithRows } from "../../../core/evaluation/task";
import { objectKeys } from "../../../core/object-keys";
import type { Phase } from "../../../core/runs/run-states";
import type { Run, RunDetails } from "../../../core/runs/shapes";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { preparedFeatures, resultOf } from "../../support/fixtures";
import { storeOneColumn } from "../../support/one-column";

const noRows: WithRows = () => Promise.reject(new Error("there is no champion to read rows for"));
const datasets = {} as DatasetRepository;

async function setup() {
  const objects = createMemoryObjectStore();
  const label = { kind: "class", column: "y", classes: [0, 1] } as const;
  const features = await storeOneColumn(objects, { xs: [1, 0], labels: [1, 0], label });
  const featureManifestKey = objectKeys.featureManifest("f00");
  await objects.put(featureManifestKey, JSON.stringify(features));
  const topology = await objects.putContent("{}");
  const weights = await objects.putContent("weights");
  const record = (step: Phase, output: unknown) => ({ step, inputHash: "", output, startedAt: "", finishedAt: "" });
  const details = (weightsSha256 = weights.sha256): RunDetails => ({
    run: { job: { evaluation: {}, resources: {} } } as Run,
    steps: [
      record("PrepareFeatures", { ...preparedFeatures.output, featureManifestKey }),
      record("LaunchTraining", { ...resultOf("run-1"), weights, topology, weightsSha256 }),
    ],
    ...{ attempts: [], workers: [], machines: [], recoveries: [], warnings: [] },
  });
  return { objects, details, topology, weights };
}

describe("evaluationStep", () => {
  it.each([
    ["of the run's own weights", 0],
    ["that fails", Number.NaN],
  ])("lets go of the model after an evaluation %s", async (_what, added) => {
    const { objects, details } = await setup();
    const seen: unknown[] = [];
    const dispose = jest.fn();
    const load: LoadModel = async ({ topology, weights }) => {
      seen.push(topology, Buffer.from(weights).toString());
      return { predict: (inputs) => inputs.map((x) => x + added), dispose };
    };
    const step = evaluationStep({ objects, datasets, loadModel: load, withRows: noRows }, undefined);
    const evaluation = step.execute(details().run, details(), "hash");
    if (added === 0) expect((await evaluation).metrics["accuracy"]).toBe(1);
    else await expect(evaluation).rejects.toThrow(/predicts NaN for row 0/);
    expect(seen).toEqual(["{}", "weights"]);
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  it("is known by its features, weights and topology", async () => {
    const { objects, details, topology, weights } = await setup();
    const load: LoadModel = async () => ({ predict: (inputs) => inputs, dispose: () => undefined });
    const step = evaluationStep({ objects, datasets, loadModel: load, withRows: noRows }, undefined);
    expect(step.inputs(details().run, details())).toEqual({
      features: preparedFeatures.output.digest,
      weightsSha256: weights.sha256,
      topology: topology.sha256,
      importance: 1,
    });
    expect(step.inputs(details().run, details("0".repeat(64)))).not.toEqual(step.inputs(details().run, details()));
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
