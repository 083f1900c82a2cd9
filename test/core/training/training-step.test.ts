import { type JobInput, jobSchema } from "../../../core/runs/job";
import type { RunDetails } from "../../../core/runs/shapes";
import { inputHashOf } from "../../../core/runs/step";
import { trainingStep, trainingTaskOf } from "../../../core/training/training-step";
import { jobInput, preparedFeatures, runOf } from "../../support/fixtures";

const features = { ...preparedFeatures, output: { ...preparedFeatures.output, digest: "e".repeat(64) } };
const detailsOf = (job: RunDetails["run"]["job"]): RunDetails => ({
  run: runOf("run-a", { job }),
  steps: [features],
  ...{ attempts: [], workers: [], machines: [], recoveries: [], warnings: [] },
});
const hashOf = (job: RunDetails["run"]["job"]): string => inputHashOf(trainingStep, detailsOf(job));
const gpu = (more: object = {}): Partial<JobInput> => ({ resources: { gpusPerWorker: 1, ...more } });

describe("the identity of a training", () => {
  it("is what it was in the same version of the step", () => {
    const job = jobSchema.parse(jobInput());
    expect(hashOf(job)).toBe("c33f5613060b9014bb8a87bd488dcce7278b373926b7c8ca660e9436c0c9afec");
  });

  it("has class weights; balanced ones need the dataset's profile", () => {
    const [none, some, balanced] = [{}, { classWeights: { a: 2 } }, { classWeights: "balanced" as const }].map(
      (hyperparameters) => jobSchema.parse(jobInput({ hyperparameters })),
    );
    expect(new Set([none!, some!, balanced!].map(hashOf)).size).toBe(3);
    const output = { rowCount: 1, profile: { sha256: "a".repeat(64), bytes: 1 }, warnings: [] };
    const validated = { ...features, step: "ValidateDataset" as const, output };
    const task = (job: RunDetails["run"]["job"]) =>
      trainingTaskOf({ ...detailsOf(job), steps: [validated, features] }).profileKey;
    expect([none!, some!, balanced!].map(task)).toEqual([undefined, undefined, `cas/sha256/${"a".repeat(64)}`]);
  });

  it("has TF32, and the task has it too", () => {
    const [off, on] = [gpu(), gpu({ tf32: true })].map((more) => jobSchema.parse(jobInput(more)));
    expect(off!.resources.tf32).toBe(false);
    expect(hashOf(on!)).not.toBe(hashOf(off!));
    expect(trainingTaskOf(detailsOf(off!)).tf32).toBeUndefined();
    expect(trainingTaskOf(detailsOf(on!)).tf32).toBe(true);
  });

  it("has early stopping, with the default filled in", () => {
    const jobs = [undefined, { minDelta: 0 }, {}, { minDelta: 0.1 }, { patience: 3 }].map((more) =>
      jobSchema.parse(jobInput(more ? { earlyStopping: { metric: "validation/loss", patience: 2, ...more } } : {})),
    );
    expect(new Set(jobs.map(hashOf)).size).toBe(4);
    expect(hashOf(jobs[1]!)).toBe(hashOf(jobs[2]!));
    const tasks = jobs.map((job) => trainingTaskOf(detailsOf(job)));
    expect(tasks[0]).not.toHaveProperty("earlyStopping");
    expect(tasks[4]!.earlyStopping).toEqual({ metric: "validation/loss", patience: 3, minDelta: 0 });
  });
});
