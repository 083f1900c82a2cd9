import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import { objectKeys } from "../../../core/object-keys";
import { readArtifact, storeArtifact } from "../../../core/registry/artifact";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { resultOf } from "../../support/fixtures";

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

  it("is an error where other bytes lie under its digest", async () => {
    const objects = createMemoryObjectStore();
    const artifactKey = await storeArtifact(objects, artifact);
    await objects.put(artifactKey, reversed);
    await expect(readArtifact(objects, { artifactKey, weightsSha256 })).rejects.toMatchObject({
      code: "CORRUPT_OBJECT",
    });
  });

  it.each([
    ["other weights", "b".repeat(64), "CORRUPT_OBJECT"],
    ["no manifest", weightsSha256, "OBJECT_NOT_FOUND"],
  ])("is an error with %s", async (what, weights, code) => {
    const objects = createMemoryObjectStore();
    const artifactKey =
      what === "no manifest" ? objectKeys.content("c".repeat(64)) : await storeArtifact(objects, artifact);
    await expect(readArtifact(objects, { artifactKey, weightsSha256: weights })).rejects.toMatchObject({ code });
  });

  it("is absent for a version from elsewhere", async () => {
    expect(await readArtifact(createMemoryObjectStore(), {})).toBeUndefined();
  });
});
