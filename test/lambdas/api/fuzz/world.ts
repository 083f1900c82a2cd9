import type { Platform } from "../../../../adapters/platform";
import { examples } from "../../../../core/api/examples";
import { objectKeys } from "../../../../core/platform/object-keys";
import { decideApproval, promote, recordGate } from "../../../../core/registry/transitions";
import { checkpointFormat } from "../../../../core/training/checkpoint/manifest";
import { jobInput, numerics, registerTestDataset, runOf } from "../../../support/fixtures";
import type { World } from "./requests";

const at = "2026-01-01T00:00:00.000Z";

/** A platform with something of everything, so that requests find what they name. */
export async function createWorld(platform: Platform): Promise<World> {
  const draft = await registerTestDataset(platform);
  const old = await registerTestDataset(platform, "old");
  // Named by jobs alone, so that nothing deprecates it.
  const steady = await registerTestDataset(platform, "steady");
  await platform.datasets.deprecate("old", 1, { at, reason: "labels were wrong" });
  const runs = ["run-a", "run-b", "run-done"];
  for (const runId of runs)
    await platform.runs.create(runOf(runId, { dataset: { name: "steady", version: 1, digest: steady.digest } }));
  await platform.runs.conclude("run-done", { status: "completed", at });
  await platform.metrics.write("run-a", [
    { metric: "train/loss", steps: [1, 2, 3], values: [2, "NaN", "Infinity"], times: [10, 20, 30] },
    { metric: "only-nan", steps: [1], values: ["NaN"], times: [10] },
  ]);
  await putCheckpoint(platform, "run-a", 2);
  await createModel(platform);
  const experiment = await platform.experiments.ensure("fuzzed", "test", at);
  const { nextToken } = await platform.runs.list({ limit: 1 });
  const content = await platform.objects.putContent("there");
  return {
    params: {
      runId: [...runs, "run-none"],
      experimentId: ["0", experiment.experimentId, "999"],
      path: ["its/file.txt", "its", "training/model/weights.safetensors", "../up"],
      epoch: [2, 3],
      "Datasets/name": ["digits", "digits", "old", "old@1", "none"],
      "Models/name": ["gated", "gated", "none", "größer # 1"],
      "Serving/name": ["gated", "gated", "gated", "none"],
      alias: ["champion", "blue", "latest", "v1"],
      key: ["a", "b/c"],
      "X-Ringmaster-Team": [platform.team],
      limit: [1, 2, 200],
      nextToken: nextToken === undefined ? [] : [nextToken],
      version: [1, 1, 2, 3, 99],
      check: ["review", "safety", "none"],
      rule: ["nightly", "weekly"],
      sha256: [content.sha256, "0".repeat(64)],
      metric: ["train/loss", "only-nan", "none"],
    },
    bodies: {
      submitTrainingRun: [
        { job: jobInput({ dataset: "steady" }) },
        { job: { ...examples.job, dataset: "steady@latest" } },
        { job: jobInput({ dataset: "old@1" }) },
        { job: wideJob },
      ],
      createExperiment: [{ name: "one" }, { name: "two", tags: { goal: "none" } }],
      changeExperiment: [{ name: "fuzzed again" }, { tags: { goal: null } }, { lifecycle: "active" }],
      logRun: [
        {},
        { experiment: "fuzzed", params: { depth: "3" }, metrics: { accuracy: 0.5, loss: "NaN" } },
        { experimentId: "0", status: "completed", startedAt: 1, endedAt: 2, parentRunId: "run-a" },
      ],
      changeRun: [{ tags: { a: "1", b: null } }, { name: "another" }, { status: "failed" }],
      logParams: [{ params: { depth: "3" } }, { params: { depth: "4", width: "5" } }],
      logMetrics: [
        { series: [{ metric: "loss", steps: [1, 2], values: [0.5, "NaN"], times: [1, 2] }] },
        { writer: "w", sequence: 1, series: [{ metric: "ä b", steps: [-1], values: ["-Infinity"] }] },
      ],
      searchRuns: [
        {},
        { filter: "metrics.train/loss > 1 OR params.depth = '3'", orderBy: ["metrics.only-nan DESC"], limit: 2 },
        { experiments: ["fuzzed", "0"], filter: "NOT dataset.name LIKE 'st%'", view: "all" },
      ],
      compareRuns: [
        { runs: ["run-a", "run-b"], baseline: "run-a", axis: "time" },
        { top: { metric: "train/loss" }, format: "html" },
        { top: { metric: "only-nan", goal: "max", count: 2, experiments: ["0"] }, format: "markdown", points: 0 },
      ],
      putRunArtifacts: [{ artifacts: [{ path: "its/file.txt", sha256: content.sha256 }] }],
      restoreTrainingRun: [{}, { overrides: { hyperparameters: { epochs: 40 } } }],
      registerDatasetVersion: [{ draft }, { draft: old, allowSchemaChange: true }],
      createUploads: [{ contents: [content, { sha256: "0".repeat(64), bytes: 1 }] }],
      answerModelCheck: [{ passed: true }, { passed: false, evidence: "no", exitCode: 1, command: "./r", output: "…" }],
      decideModelVersion: [{ decision: "approved" }, { decision: "rejected", reason: "slow" }],
      setModelVersionStage: [{ stage: "production" }, { stage: "staging", reason: "look" }, { stage: "canary" }],
      createModel: [{ name: "a model" }, { name: "größer # 1", tags: { a: "b" } }, { name: "gated" }],
      registerModelVersion: [
        { name: "elsewhere", source: "s3://b/1" },
        {
          name: "elsewhere",
          source: "s3://b/2",
          semver: "1.0.0",
          metrics: { accuracy: 0.5 },
          signature: { inputs: [{ name: "x", type: "float", shape: [-1] }], outputs: [{ type: "int" }] },
          dataset: { name: "d", digest: "1" },
        },
      ],
      describeModel: [{ description: "# It" }],
      describeModelVersion: [{ description: "# It" }],
      tagModel: [{ key: "a", value: "b" }],
      tagModelVersion: [{ key: "a", value: "b" }],
      setModelAlias: [{ version: 1 }, { version: 99 }],
      setModelVersionSemver: [{ semver: "1.0.0" }, { semver: "2.0.0-rc.1" }],
      setModelPolicy: [
        { approvals: { required: 2, approvers: ["ada", "grace"], notTheSubmitter: true } },
        { rules: { thresholds: { accuracy: 0.9 }, noRegression: {} } },
        {},
      ],
      judgeModelVersion: [{ reason: "again" }],
      restoreModel: [{}],
      restoreModelVersion: [{}],
      createExport: [{ format: "onnx" }, { format: "safetensors" }, { format: "tfjs" }],
      setTraffic: [
        {},
        { canaries: [{ version: 2, weight: 0.1 }], shadows: [3], test: { metric: "clicks", effect: 0.02 } },
      ],
      routeUnits: [{ units: ["a"] }, { units: ["a", "b", "ä#/"] }],
      reportOutcomes: [{ epoch: 0, outcomes: [{ unit: "a", value: 1 }] }],
      logShadow: [{ observations: [{ unit: "a", served: "cat", shadow: [0.2, 0.8] }] }],
      rollBackModel: [{}, { reason: "slow" }],
      createRetrainingRule: ["nightly", "weekly"].map(ruleNamed),
      replaceRetrainingRule: ["nightly", "weekly"].map(ruleNamed),
      disableRetrainingRule: [{}, { reason: "in doubt" }],
      deprecateDatasetVersion: [{}, { reason: "old" }],
    },
  };
}

const ruleNamed = (name: string) => ({
  ...examples.retrainingRuleDefinition,
  name,
  trigger: { type: "dataset", dataset: "steady" },
  job: jobInput({ dataset: "steady" }),
});

/** Says something in every part. */
const wideJob = {
  ...jobInput({ dataset: "steady" }),
  registerAs: "gated",
  model: { type: "module", path: "x.ts", sha256: "a".repeat(64), options: { depth: { of: [1, "two", null, true] } } },
  hyperparameters: { optimizer: "adamw", learningRate: 0.01, batchSize: 64, epochs: 2 },
  resources: { workers: 2, market: "on-demand" },
  tags: { owner: "ada" },
  notes: "a note",
};

async function putCheckpoint(platform: Platform, runId: string, epoch: number): Promise<void> {
  const manifest = {
    format: checkpointFormat,
    runId,
    finishedSteps: 20,
    epoch,
    identity: { seed: 0, microshards: 8, batchSize: 128, layout: "l", optimizer: "adam", gradientFormat: "float32" },
    numerics,
    weightsSha256: "a".repeat(64),
    tensors: [],
    epochScore: "",
    createdAt: at,
  };
  await platform.objects.put(objectKeys.checkpointManifest(runId, 20), JSON.stringify(manifest));
}

/** Version 1 in production, 2 passed its gates, 3 did not. */
async function createModel(platform: Platform): Promise<void> {
  const { registry } = platform;
  const report = await platform.objects.putContent(
    JSON.stringify({ rows: 1, label: "y", metrics: {}, slices: [], predictions: { sha256: "e".repeat(64), bytes: 1 } }),
  );
  for (const version of [1, 2, 3]) {
    const runId = `run-of-${version}`;
    const artifactKey = objectKeys.artifactManifest(runId);
    await platform.objects.put(artifactKey, JSON.stringify({ ...examples.resolvedModel.artifact, runId }));
    await registry.register(
      platform.team,
      {
        model: "gated",
        runId,
        weightsSha256: "a".repeat(64),
        artifactKey,
        dataset: { name: "digits", version: 1, digest: "d".repeat(64) },
        metrics: { accuracy: 0.99 },
        evaluationReport: report,
      },
      { by: "test", at },
    );
    await registry.apply(
      "gated",
      [version],
      recordGate(version, { passed: version < 3, checks: [], at }, { by: "test", at }),
    );
  }
  await registry.apply("gated", [1], decideApproval(1, "approved", { by: "test", at }));
  await registry.apply("gated", [1], promote(1, { by: "test", at }));
}
