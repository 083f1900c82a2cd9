import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import { objectKeys } from "../../../core/object-keys";
import { readArtifact, storeArtifact } from "../../../core/registry/artifact";
import { loggedMetricsOf } from "../../../core/registry/logged-metrics";
import type { LoggedModelMetric } from "../../../core/tracking/logged-model";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { resultOf } from "../../support/fixtures";

const point = (key: string, value: number, step: number, timestamp = 0): LoggedModelMetric => ({
  ...{ key, value, step, timestamp, runId: "r" },
});

it("what was logged of a version: its run's last values, and before those its logged model's", async () => {
  const requested: (readonly string[])[] = [];
  const ports = {
    metrics: {
      async summariesOf(runIds: readonly string[]) {
        requested.push(runIds);
        const summary = (metric: string, last: number) => ({ metric, last });
        return new Map([["r", [summary("accuracy", 0.7), summary("loss", 0.3)]]]) as never;
      },
    },
    loggedModels: {
      async find(modelId: string) {
        const accuracy = [point("accuracy", 0.8, 2), point("accuracy", 0.5, 1)];
        const metrics = [...accuracy, point("auc", 0.1, 3, 1), point("auc", 0.9, 3, 2)];
        return modelId === "m-1" ? ({ modelId, metrics } as never) : undefined;
      },
    },
  };
  const found = await loggedMetricsOf(ports, [
    { version: 1, runId: "r" },
    { version: 2, runId: "r", loggedModelId: "m-1" },
    { version: 3, loggedModelId: "m-gone" },
    { version: 4, runId: "nobody's" },
    { version: 5 },
    { version: 6, runId: "trained", artifactKey: "k" },
  ]);
  expect(Object.fromEntries(found)).toEqual({
    1: { accuracy: 0.7, loss: 0.3 },
    2: { accuracy: 0.8, loss: 0.3, auc: 0.9 },
  });
  expect(requested).toEqual([["r", "nobody's"]]);
});

const weightsSha256 = "a".repeat(64);
const { weights, topology, numerics } = resultOf("run-1");
const artifact: ModelArtifact = {
  ...{ format: 1, runId: "run-1", model: "m", weights, topology, weightsSha256, numerics },
  transform: { outputs: [], width: 0, shape: [0] },
  label: { kind: "class", column: "label", classes: [0, 1] },
  inputSchema: [],
  outputSchema: { kind: "probabilities", classes: [0, 1] },
};
const reversed = JSON.stringify({ ...artifact, outputSchema: { kind: "probabilities", classes: [1, 0] } });

describe("an artifact manifest", () => {
  it("is read as it was registered", async () => {
    const objects = createMemoryObjectStore();
    const artifactKey = await storeArtifact(objects, artifact);
    expect(await readArtifact(objects, { artifactKey, weightsSha256 })).toEqual(artifact);
  });

  it.each([
    ["other bytes under its digest", weightsSha256, "CORRUPT_OBJECT"],
    ["other weights", "b".repeat(64), "CORRUPT_OBJECT"],
    ["no manifest", weightsSha256, "OBJECT_NOT_FOUND"],
  ])("is an error with %s", async (what, weights, code) => {
    const objects = createMemoryObjectStore();
    const stored = await storeArtifact(objects, artifact);
    if (what.startsWith("other bytes")) await objects.put(stored, reversed);
    const artifactKey = what === "no manifest" ? objectKeys.content("c".repeat(64)) : stored;
    await expect(readArtifact(objects, { artifactKey, weightsSha256: weights })).rejects.toMatchObject({ code });
  });

  it("is absent for a version from elsewhere", async () => {
    expect(await readArtifact(createMemoryObjectStore(), {})).toBeUndefined();
  });
});
