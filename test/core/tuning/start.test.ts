import { datasetNotFound } from "../../../core/datasets/errors";
import { registerBest, type StartDependencies } from "../../../core/tuning/drive";
import type { Study, Trial } from "../../../core/tuning/shapes";
import { studyDefinitionSchema } from "../../../core/tuning/study";
import { jobInput } from "../../support/fixtures";

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
  ...{ status: "completed", revision: 4, parentRunId: "run-parent", best: [0], extensions: 0, warmTrials: 0 },
  ...{ createdBy: "ada", startedAt: at, createdAt: at, updatedAt: at },
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
