import { datasetNotFound } from "../../../core/datasets/errors";
import { sha256 } from "../../../core/digest";
import { registerBest, type StartDependencies } from "../../../core/tuning/drive";
import type { Study, Trial } from "../../../core/tuning/shapes";
import { spaceSchema } from "../../../core/tuning/space";
import { studyDefinitionSchema } from "../../../core/tuning/study";
import { type ImportedTrials, trialsOfImport } from "../../../core/tuning/warm-start";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { jobInput } from "../../support/fixtures";

const rate = "hyperparameters.learningRate";
const units = "model.units";
const space = spaceSchema.parse({
  [rate]: { type: "float", low: 0.001, high: 0.1, log: true },
  [units]: { type: "int", low: 8, high: 64, step: 8, when: { parameter: rate, in: [0.01] } },
});
const document: ImportedTrials = {
  format: "ringmaster/trials@1",
  study: "rates",
  directions: ["minimize"],
  trials: [
    { state: "completed", values: [0.5], params: { [rate]: 0.02, [units]: 9, other: "x" }, reports: [] },
    { state: "completed", values: [0.4], params: { [rate]: 0.5 }, reports: [] },
    { state: "stopped", params: { [rate]: 0.01 }, reports: [{ epoch: 1, value: 0.3 }] },
  ],
};
const objectives = [{ metric: "validation/loss", direction: "minimize" }] as const;

describe("imported trials", () => {
  const objects = createMemoryObjectStore();
  const read = async (stored: unknown, of: Parameters<typeof trialsOfImport>[1] = { space, objectives }) => {
    const { sha256: digest } = await objects.putContent(JSON.stringify(stored));
    return trialsOfImport(objects, of, { path: "warmStart.0.trials", sha256: digest });
  };

  it("are those that lie in the space, with its active parameters", async () => {
    expect(await read(document)).toEqual([
      { state: "completed", values: [0.5], params: { [rate]: 0.02 }, reports: [] },
    ]);
  });

  it.each([
    ["none lies in the space", { ...document, trials: document.trials.slice(1) }, `${rate} is outside in 1`],
    ["the objectives have another direction", { ...document, directions: ["maximize"] }, "has trials that maximize"],
    ["it is another document", { format: "other" }, 'format must be "ringmaster/trials@1"'],
  ])("are refused where %s", async (_name, stored, message) => {
    await expect(read(stored)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining(message),
    });
  });

  it("are refused where they were not imported, or are too large", async () => {
    const reference = { path: "warmStart.0.trials", sha256: sha256("nothing") };
    await expect(trialsOfImport(objects, { space, objectives }, reference)).rejects.toThrow("ringmaster study import");
    const large = { ...objects, size: async () => 2 ** 30 };
    await expect(trialsOfImport(large, { space, objectives }, reference)).rejects.toThrow("at most 33554432 bytes");
  });
});

const at = "2026-01-01T00:00:00.000Z";
const study: Study = {
  name: "rates",
  team: "default",
  definition: studyDefinitionSchema.parse({
    name: "rates",
    job: jobInput(),
    objectives: [{ metric: "validation/loss", direction: "minimize" }],
    space: { "hyperparameters.learningRate": { type: "float", low: 0.001, high: 0.1 } },
    stop: { trials: 1 },
    best: { registerAs: "digits" },
  }),
  status: "completed",
  revision: 4,
  parentRunId: "run-parent",
  best: [0],
  extensions: 0,
  warmTrials: 0,
  createdBy: "ada",
  startedAt: at,
  createdAt: at,
  updatedAt: at,
};
const trial: Trial = {
  ...{ number: 0, params: { "hyperparameters.learningRate": 0.01 }, state: "completed", until: 5, segment: 0 },
  ...{ reports: [], values: [0.2], startedAt: at },
};

function portsThatFail(error: Error) {
  const saved: Study[] = [];
  const fail = () => Promise.reject(error);
  const ports = {
    team: "default",
    studies: { save: async (next: Study) => saved.push(next) > 0 },
    runs: { find: async () => undefined },
    datasets: { find: fail, findActive: fail },
    randomId: () => "0".repeat(16),
  } as unknown as StartDependencies;
  return { ports, saved };
}

describe("the registration of a study's best trial", () => {
  it("that is refused permanently is recorded, and not tried again", async () => {
    const { ports, saved } = portsThatFail(datasetNotFound("digits"));
    const after = await registerBest(ports, { study, trials: [trial] });
    expect(after).toMatchObject({ revision: 5, bestFailure: expect.stringContaining("DATASET_NOT_FOUND") });
    expect(saved).toEqual([after]);
    expect(await registerBest(ports, { study: after, trials: [trial] })).toBe(after);
    expect(saved).toHaveLength(1);
  });

  it("that meets a service that does not answer is tried again", async () => {
    const { ports, saved } = portsThatFail(new Error("no connection"));
    await expect(registerBest(ports, { study, trials: [trial] })).rejects.toThrow("no connection");
    expect(saved).toEqual([]);
  });
});
