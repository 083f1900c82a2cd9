import { compareRuns } from "../../api/reproduction/compare";
import { reproduceRun, walkOf } from "../../api/reproduction/reproduce";
import type { Agreement } from "../../api/reproduction/shapes";
import { objectKeys } from "../../core/object-keys";
import { jobSchema } from "../../core/runs/job";
import type { Run, RunDetails } from "../../core/runs/shapes";
import type { TrainingOutput } from "../../core/runs/training-task";
import type { MetricPoint } from "../../core/tracking/metric-store";
import { checkpointFormat } from "../../core/training/checkpoint/manifest";
import { createMemoryObjectStore } from "../adapters/s3/memory-object-store";
import { jobInput, numerics, resultOf, runOf } from "../support/fixtures";

const at = "2026-01-01T00:00:00.000Z";

function detailsOf(
  runId: string,
  weights: string | undefined,
  more: Partial<Run> = {},
  training: Partial<TrainingOutput> = {},
  reusedFrom?: string,
): RunDetails {
  const run = runOf(runId, { status: "completed", ...more });
  const output = { ...resultOf(runId), weightsSha256: weights?.repeat(64), ...training };
  const trained = {
    step: "LaunchTraining" as const,
    inputHash: "i",
    output,
    startedAt: at,
    finishedAt: at,
    ...(reusedFrom ? { reusedFrom } : {}),
  };
  return {
    run,
    steps: weights === undefined ? [] : [trained],
    attempts: [],
    workers: [],
    machines: [],
    recoveries: [],
    warnings: [],
  };
}

const never = () => Promise.reject(new Error("must not be called"));
const nowhere: Agreement = { steps: 10, checkpoints: 2 };

describe("a reproduction's verdict", () => {
  it("is identical if the weights are, whatever else differs", async () => {
    const other = detailsOf("b", "a", {
      job: jobSchema.parse(jobInput({ resources: { workers: 4 }, notes: "again" })),
    });
    expect(await compareRuns(other, detailsOf("a", "a"), never)).toEqual({
      runId: "b",
      of: "a",
      verdict: "identical",
      originalSha256: "a".repeat(64),
      reproductionSha256: "a".repeat(64),
      differences: [],
      explanation: "the weights are identical",
    });
  });

  it.each<[string, RunDetails, object]>([
    [
      "module",
      detailsOf("b", "b", { code: { moduleSha256: "d" }, job: jobSchema.parse(jobInput({ seed: 8 })) }),
      { kind: "code", field: "moduleSha256", original: "absent", reproduction: "d" },
    ],
    [
      "data",
      detailsOf("b", "b", { dataset: { name: "digits", version: 2, digest: "e".repeat(64) } }),
      { kind: "data", field: "dataset", original: "digits@1", reproduction: "digits@2" },
    ],
    [
      "seed",
      detailsOf("b", "b", { job: jobSchema.parse(jobInput({ seed: 8 })) }),
      { kind: "parameters", field: "seed", original: "0", reproduction: "8" },
    ],
    [
      "threads",
      detailsOf("b", "b", {}, { numerics: { ...numerics, threads: { intraOp: 4, interOp: 1 } } }),
      { kind: "numerics", field: "threads.intraOp", original: "1", reproduction: "4" },
    ],
    [
      "a machine that changed on the way",
      detailsOf("b", "b", {}, { otherNumerics: ["cpu.features"] }),
      { kind: "numerics", field: "changed on the way", original: "none", reproduction: "cpu.features" },
    ],
  ])("names what differs first: %s", async (_name, reproduction, difference) => {
    const found = await compareRuns(reproduction, detailsOf("a", "a"), async () => nowhere);
    expect(found.verdict).toBe("different");
    expect(found.differences[0]).toEqual(difference);
    expect(found.explanation).toContain("their recorded values are equal in all 10 common steps; likeliest cause, in");
  });

  it("says so where nothing explains it", async () => {
    const { differences, explanation } = await compareRuns(
      detailsOf("b", "b"),
      detailsOf("a", "a"),
      async () => nowhere,
    );
    expect(differences).toEqual([]);
    expect(explanation).toContain("the computation is not deterministic or data is damaged");
  });

  it.each([
    ["running", "pending", "b has not finished training"],
    ["paused", "pending", "b has not finished training"],
    ["failed", "failed", "b is failed without weights: NO_MEMORY: too large"],
  ] as const)("of a run that is %s is %s", async (status, verdict, explanation) => {
    const failure = status === "failed" ? { failure: { code: "NO_MEMORY", message: "too large" } } : {};
    const found = await compareRuns(detailsOf("b", undefined, { status, ...failure }), detailsOf("a", "a"), never);
    expect(found).toMatchObject({ verdict, explanation });
  });
});

describe("the walk along two trainings", () => {
  /** In pages of two points. */
  const metricsOf = (series: Readonly<Record<string, readonly (readonly [step: number, value: number])[]>>) => ({
    async readAfter(runId: string, _metric: string, position: { readonly step: number; readonly item: number }) {
      const rest = (series[runId] ?? []).filter(([step]) => step > position.step);
      const points: MetricPoint[] = rest.slice(0, 2).map(([step, value]) => ({ step, value, time: 0 }));
      return { points, position: { step: points.at(-1)?.step ?? position.step, item: 0 }, more: rest.length > 2 };
    },
  });
  const factsOf = (by: string) => ({
    runId: by,
    code: {},
    data: {},
    parameters: {},
    trained: { weightsSha256: by, steps: 5, numerics, otherNumerics: [], by },
  });
  const checkpoint = (runId: string, step: number, weightsSha256: string) =>
    JSON.stringify({
      format: checkpointFormat,
      runId,
      finishedSteps: step,
      weightsSha256,
      epoch: 0,
      identity: { seed: 0, microBatches: 8, batchSize: 8, layout: "l", optimizer: "adam", gradientFormat: "float32" },
      numerics,
      tensors: [],
      epochScore: "",
      createdAt: at,
    });

  it("ends at the first point that differs; NaN is NaN, and steps that one lacks do not count", async () => {
    const metrics = metricsOf({
      a: [
        [1, 2],
        [2, Number.NaN],
        [3, 1.5],
        [4, 1.25],
      ],
      b: [
        [1, 2],
        [2, Number.NaN],
        [4, 1.125],
        [5, 1],
      ],
    });
    const found = await walkOf({ metrics, objects: createMemoryObjectStore() })(factsOf("a"), factsOf("b"));
    expect(found).toEqual({
      steps: 3,
      checkpoints: 0,
      first: { by: "metric", step: 4, metric: "train/loss", original: "1.25", reproduction: "1.125" },
    });
  });

  it("finds a checkpoint that differs before any point does", async () => {
    const objects = createMemoryObjectStore();
    for (const [run, step, weights] of [
      ["a", 10, "a"],
      ["b", 10, "a"],
      ["a", 20, "c"],
      ["b", 20, "d"],
      ["a", 30, "e"],
    ] as const)
      await objects.put(objectKeys.checkpointManifest(run, step), checkpoint(run, step, weights.repeat(64)));
    const metrics = metricsOf({
      a: [
        [1, 2],
        [21, 1],
      ],
      b: [
        [1, 2],
        [21, 3],
      ],
    });
    expect(await walkOf({ metrics, objects })(factsOf("a"), factsOf("b"))).toEqual({
      steps: 2,
      checkpoints: 2,
      first: { by: "checkpoint", step: 20, original: "c".repeat(64), reproduction: "d".repeat(64) },
    });
  });

  it("asks the run that has trained, where the step was reused", async () => {
    const requested: string[] = [];
    const metrics = {
      async readAfter(runId: string) {
        requested.push(runId);
        return { points: [], position: { step: -1, item: 0 }, more: false };
      },
    };
    const walk = walkOf({ metrics, objects: createMemoryObjectStore() });
    await compareRuns(detailsOf("b", "b"), detailsOf("a", "a", {}, {}, "first"), walk);
    expect(requested.sort()).toEqual(["b", "first"]);
  });
});

describe("reproducing", () => {
  const dependenciesOf = (source: RunDetails | undefined) => {
    const created: Run[] = [];
    const manifest = {
      name: "digits",
      version: 1,
      digest: "d".repeat(64),
      schema: [
        { name: "x", type: "float", role: "feature" },
        { name: "label", type: "int", role: "label" },
      ],
      split: { indexes: { train: { rows: 100 } } },
    };
    return {
      created,
      clock: { now: () => 0 },
      randomId: () => "0123456789abcdef",
      objects: {} as never,
      executions: { start: jest.fn(async () => undefined) } as never,
      datasets: { find: async () => ({ manifest, deprecation: { at, reason: "labels were wrong" } }) } as never,
      runs: {
        find: async () => undefined,
        findDetails: async () => source,
        async create(run: Run) {
          created.push(run);
          return { run };
        },
        recordWarning: async () => undefined, // a batch of 128 of 100 rows
      } as never,
    };
  };
  const request = { runId: "run-a", team: "default", actor: "ada" };

  it("submits the same job, code and dataset version again, although the version was deprecated since", async () => {
    const source = detailsOf("run-a", "a", {
      code: { commit: "c", moduleSha256: "m" },
      environment: { lockfileSha256: "l" },
      job: jobSchema.parse(jobInput({ dataset: "digits@latest", seed: 5 })),
    });
    const dependencies = dependenciesOf(source);
    const run = await reproduceRun(dependencies, request);
    expect(run).toMatchObject({
      reproducedFrom: "run-a",
      noCache: true,
      code: source.run.code,
      environment: source.run.environment,
      dataset: { name: "digits", version: 1 },
      job: { ...source.run.job, dataset: "digits@1" },
    });
    expect(run.restoredFrom).toBeUndefined();
    expect(dependencies.created).toEqual([run]);
  });

  it.each([
    ["there is none", undefined, "RUN_NOT_FOUND"],
    ["it has not trained", detailsOf("run-a", undefined), "RUN_NOT_TRAINED"],
  ])("is refused where %s", async (_name, source, code) => {
    await expect(reproduceRun(dependenciesOf(source), request)).rejects.toMatchObject({ code });
  });
});
