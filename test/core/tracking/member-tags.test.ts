import { metricValueMessage, newRunMessage, runMessage } from "../../../api/mlflow/tracking/messages";
import { withParamsAndTags } from "../../../api/mlflow/tracking/runs";
import { mlflowTag, mlflowTags, withMlflowTag, withoutMlflowTag } from "../../../core/tracking/member-tags";
import type { RunRecord } from "../../../core/tracking/shapes";

const record: RunRecord = {
  runId: "r",
  team: "red",
  experimentId: "1",
  source: "logged",
  name: "first",
  status: "running",
  lifecycle: "active",
  createdBy: "ada",
  startedAt: 1,
  params: { lr: "0.1" },
  tags: { own: "1" },
  notes: "",
  datasets: [],
  modelInputs: [],
  modelOutputs: [],
  code: {},
  environment: {},
  artifactUri: "mlflow-artifacts:/1/r/artifacts",
  revision: 1,
};
const training: RunRecord = { ...record, source: "training", code: { commit: "c1" } };

describe("tags that stand for members", () => {
  it.each([
    ["mlflow.runName", "second", { name: "second" }],
    ["mlflow.note.content", "# hi", { notes: "# hi" }],
    ["mlflow.parentRunId", "p", { parentRunId: "p" }],
    ["mlflow.source.name", "train.py", { code: { entryPoint: "train.py" } }],
    ["mlflow.source.git.commit", "abc", { code: { commit: "abc" } }],
    ["mlflow.source.git.branch", "main", { code: { branch: "main" } }],
    ["mlflow.source.git.repoURL", "https://x", { code: { repository: "https://x" } }],
  ])("%s is the field, not an additional tag", (key, value, members) => {
    const changed = withMlflowTag(record, key, value);
    expect(changed).toEqual({ ...record, ...members });
    expect(mlflowTags(changed)).toEqual({ own: "1", "mlflow.runName": "first", [key]: value });
    expect(withMlflowTag(changed, key, value)).toBe(changed);
  });

  it("go with the member, all but the name", () => {
    expect(withoutMlflowTag({ ...record, parentRunId: "p" }, "mlflow.parentRunId")).toEqual(record);
    expect(withoutMlflowTag({ ...record, notes: "x" }, "mlflow.note.content")).toEqual(record);
    expect(withoutMlflowTag({ ...record, code: { commit: "a" } }, "mlflow.source.git.commit")).toEqual(record);
    expect(withoutMlflowTag(record, "mlflow.runName")).toEqual(record);
    expect(withoutMlflowTag(record, "mlflow.note.content")).toBeUndefined();
  });

  it.each([
    ["mlflow.note.content", "", { ...record, notes: "x" }],
    ["mlflow.parentRunId", "", { ...record, parentRunId: "p" }],
    ["mlflow.parentRunId", "y".repeat(257), record],
  ])("%s that the member cannot be stays a tag", (key, value, before) => {
    const changed = withMlflowTag(before, key, value);
    expect(changed).toEqual({ ...record, tags: { own: "1", [key]: value } });
    expect(mlflowTags(changed)[key]).toBe(value);
    expect(mlflowTag(changed, key)).toBe(value);
    expect(withMlflowTag(changed, key, value)).toBe(changed);
    expect(withMlflowTag(changed, key, "z").tags).toEqual({ own: "1" });
    expect(withoutMlflowTag(changed, key)).toEqual(record);
  });

  it("others are tags", () => {
    expect(withMlflowTag(record, "own", "1")).toBe(record);
    expect(withMlflowTag(record, "constructor", "x").tags).toEqual({ own: "1", constructor: "x" });
    expect(withoutMlflowTag(record, "constructor")).toBeUndefined();
    expect(withoutMlflowTag(record, "own")).toEqual({ ...record, tags: {} });
  });

  it("a run that is trained here keeps its code, and says who made it", () => {
    const changed = withMlflowTag(training, "mlflow.source.git.commit", "other");
    expect(changed.code).toEqual({ commit: "c1" });
    expect(mlflowTags(changed)).toEqual({
      own: "1",
      "mlflow.runName": "first",
      "mlflow.user": "ada",
      "mlflow.source.type": "JOB",
      "mlflow.source.git.commit": "c1",
    });
  });
});

describe("params", () => {
  const refuse = (conflicts: readonly object[]) => new Error(JSON.stringify(conflicts));

  it("are written once; the same again changes nothing", () => {
    expect(withParamsAndTags(record, [{ key: "lr", value: "0.1" }], [], refuse)).toBe(record);
    expect(withParamsAndTags(record, [{ key: "d", value: "3" }], [], refuse).params).toEqual({ lr: "0.1", d: "3" });
  });

  it("that would change are all reported, and nothing is stored", () => {
    const requested = [
      { key: "lr", value: "0.2" },
      { key: "new", value: "1" },
    ];
    expect(() => withParamsAndTags(record, requested, [], refuse)).toThrow(
      '[{"key":"lr","known":"0.1","given":"0.2"}]',
    );
  });
});

describe("the view", () => {
  it("leaves out what is empty, and tells the latest of each metric", () => {
    const metrics = [{ metric: "loss", last: Number.NaN, lastStep: 3, lastTime: 9, min: 1, max: 2 }];
    expect(runMessage({ ...record, params: {}, status: "completed", endedAt: 5 }, metrics)).toEqual({
      info: {
        run_id: "r",
        run_uuid: "r",
        run_name: "first",
        experiment_id: "1",
        user_id: "ada",
        status: "FINISHED",
        start_time: 1,
        end_time: 5,
        artifact_uri: "mlflow-artifacts:/1/r/artifacts",
        lifecycle_stage: "active",
      },
      data: {
        metrics: [{ key: "loss", value: "NaN", timestamp: 9, step: 3 }],
        tags: [
          { key: "own", value: "1" },
          { key: "mlflow.runName", value: "first" },
        ],
      },
      inputs: {},
      outputs: {},
    });
    expect(newRunMessage(record)).not.toHaveProperty("outputs");
  });

  it.each([
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, Number.MAX_VALUE],
    [Number.NEGATIVE_INFINITY, -Number.MAX_VALUE],
    [-0.5, -0.5],
  ])("%d is shown as %s", (value, shown) => expect(metricValueMessage(value)).toBe(shown));
});
