import { jobSchema } from "../../../../core/runs/job";
import { keptAtFirst, keptOf, paramsOfJob, recordOf } from "../../../../core/tracking/records/training-record";
import { jobInput, resultOf, runOf } from "../../../support/fixtures";

const identity = { runId: "run-a", team: "default", experimentId: "3", source: "training" } as const;
const job = jobSchema.parse(jobInput({ tags: { owner: "ada" }, notes: "why" }));
const run = runOf("run-a", { job, code: { commit: "abc" } });
const kept = keptAtFirst(run, "mlflow-artifacts:/3");
const record = recordOf(identity, kept, { run, training: resultOf("run-a"), instanceTypes: ["g5.xlarge"] }, 1);

describe("the parameters of a job", () => {
  it("are its leaves by dotted path, and not what it belongs to, reads or notes", () => {
    const params = paramsOfJob(
      jobSchema.parse(
        jobInput({ model: { type: "module", path: "m.ts", options: { a: { b: [1, "x"], c: null }, d: {}, e: "t" } } }),
      ),
    );
    expect(params).toMatchObject({
      "model.type": "module",
      "model.options.a.b": '[1,"x"]',
      "model.options.a.c": "null",
      "model.options.d": "{}",
      "model.options.e": "t",
      "features.standardize": "true",
      "evaluation.thresholds.accuracy": "0.9",
      "evaluation.slices": "[]",
      seed: "0",
    });
    expect(Object.keys(params).filter((key) => /^(experiment|dataset|registerAs|tags|notes)/.test(key))).toEqual([]);
  });
});

describe("a training run's record", () => {
  it("combines the run's rows with the stored record", () => {
    expect(record).toMatchObject({
      name: "run-a",
      tags: { owner: "ada" },
      notes: "why",
      status: "queued",
      artifactUri: "mlflow-artifacts:/3/run-a/artifacts",
      startedAt: Date.parse(run.createdAt),
      code: { commit: "abc" },
      datasets: [{ name: "digits", version: 1 }],
      environment: { hardware: { instanceTypes: ["g5.xlarge"], cpu: "test" }, numerics: { backend: "wasm" } },
    });
  });

  it("keeps of a change what its state does not tell, so that the two give the changed record again", () => {
    const input = { name: "more", digest: "d", sourceType: "s3", source: "", tags: {} };
    const changed = {
      ...record,
      name: "x",
      params: { ...record.params, mine: "1" },
      datasets: [...record.datasets, input],
      lifecycle: "deleted" as const,
      deletedAt: "2026-01-02T00:00:00.000Z",
    };
    const decided = keptOf(record, changed);
    if (!("kept" in decided)) throw new Error(decided.fixedField);
    expect(decided.kept).toMatchObject({ params: { mine: "1" }, datasets: [input], name: "x" });
    const again = recordOf(
      identity,
      decided.kept,
      { run, training: resultOf("run-a"), instanceTypes: ["g5.xlarge"] },
      1,
    );
    expect(again).toEqual(changed);
  });

  it.each([
    ["status", { ...record, status: "failed" as const }],
    ["endedAt", { ...record, endedAt: 1 }],
    ["param seed", { ...record, params: { ...record.params, seed: "1" } }],
    ["param seed", { ...record, params: {} }],
  ])("refuses to change its %s", (field, changed) => {
    const decided = keptOf(record, changed);
    expect("fixedField" in decided && decided.fixedField.startsWith("param") ? "param seed" : decided).toEqual(
      field === "param seed" ? "param seed" : { fixedField: field },
    );
  });
});
