import { examples } from "../../../api/examples";
import { jobInput } from "../../support/fixtures";
import { fileOf, spendView } from "../../support/stored-view";

/** Values that parameters often have. Others come from created things and responses, or are generated from their schemas. */
export const goodValues: Readonly<Record<string, readonly (string | number)[]>> = {
  limit: [1, 2, 200],
  alias: ["blue", "blue", "champion", "latest", "v1"],
  path: ["its/file.txt", "its", "training/model/weights.safetensors", "../up"],
  file: ["MLmodel", "file.txt", "größer 1", ".."],
  epoch: [2, 2, 3],
  key: ["a", "b/c"],
  check: ["review", "review", "hook", "none"],
  baseline: ["run-queued-0"],
  runs: ['["run-queued-0", "run-trained-0"]'],
  metric: ["train/loss", "loss", "only-nan", "none"],
  "X-Ringmaster-Team": ["default"],
  "Idempotency-Key": ["k1", "k2", "k3"],
  "If-None-Match": ["*", '"none"', 'W/"1-1", "2-5"'],
  "last-event-id": ["0", "none"],
};

const job = jobInput({ dataset: "steady" });

const triggerNamed = (name: string) => ({
  ...examples.triggerDefinition,
  name,
  on: { type: "dataset", dataset: "steady" },
  start: { job },
});

/** Rules of every kind. */
const wideContract = [
  { rule: "type", column: "x", type: "float" },
  { rule: "notNull", column: "x", tolerance: 0.1, severity: "warn", name: "there" },
  { rule: "range", column: "x", minimum: 0, maximum: 1 },
  { rule: "length", column: "c", minimum: 1 },
  { rule: "values", column: "c", values: ["a", "b"] },
  { rule: "pattern", column: "c", pattern: "[a-z]" },
  { rule: "unique", columns: ["x", "c"] },
  { rule: "rowCount", minimum: 1 },
  { rule: "freshness", column: "at", maxAge: "7d" },
  { rule: "expression", expression: "x > 0 or c = 'a'" },
  { rule: "reference", column: "c", references: { dataset: "steady", version: 1, column: "c" } },
  { rule: "statistic", column: "x", statistic: "quantile", probability: 0.5, minimum: 0 },
  { rule: "drift", column: "x", baseline: "previous", measure: "psi", maximum: 0.2 },
];

/** Says something in every part. */
const wideJob = {
  ...job,
  registerAs: "gated",
  model: { type: "module", path: "x.ts", sha256: "a".repeat(64), options: { depth: { of: [1, "two", null, true] } } },
  hyperparameters: { optimizer: "adamw", learningRate: 0.01, batchSize: 64, epochs: 2 },
  resources: { workers: 2, market: "on-demand" },
  tags: { owner: "ada" },
  notes: "a note",
};

const reviewed = {
  rules: {
    thresholds: { accuracy: 0.5 },
    checks: [{ name: "review", kind: "command", command: ["./review.sh"], timeoutSeconds: 60 }],
  },
};

/** Bodies that succeed where the thing allows it, by operation; they are damaged, too. `"@model"` stands for the model's name. */
export const goodBodies: Readonly<Record<string, readonly unknown[]>> = {
  submitTrainingRun: [
    { job },
    { job: { ...examples.job, dataset: "steady@latest" } },
    { job: jobInput({ dataset: "old@1" }) },
    { job: wideJob },
  ],
  createExperiment: [{ name: "@fresh" }, { name: "@fresh", tags: { goal: "none" } }, { name: "one" }],
  changeExperiment: [{ name: "@fresh" }, { tags: { goal: null } }, { lifecycle: "active" }],
  logRun: [
    {},
    { experiment: "fuzzed", params: { depth: "3" }, metrics: { accuracy: 0.5, loss: "NaN" } },
    { experimentId: "@experimentId", status: "completed", startedAt: 1, endedAt: 2, parentRunId: "@runId" },
  ],
  changeRun: [{ tags: { a: "1", b: null } }, { name: "another" }, { status: "failed" }],
  logParams: [{ params: { depth: "3" } }, { params: { depth: "4", width: "5" } }, { params: { "@fresh": "1" } }],
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
    { runs: ["@runId"], baseline: "@runId", axis: "time" },
    { top: { metric: "train/loss" }, format: "html" },
    { top: { metric: "only-nan", goal: "max", count: 2, experiments: ["0"] }, format: "markdown", points: 0 },
  ],
  putRunArtifacts: [{ artifacts: [{ path: "its/file.txt", sha256: "@sha256" }] }],
  restoreTrainingRun: [{}, { overrides: { hyperparameters: { epochs: 40 } } }],
  registerDatasetVersion: [{ draft: "@draft" }, { draft: "@draft", allowSchemaChange: true }],
  createUploads: [
    {
      contents: [
        { sha256: "@sha256", bytes: 5 },
        { sha256: "0".repeat(64), bytes: 1 },
      ],
    },
  ],
  answerModelCheck: [{ passed: true }, { passed: false, evidence: "no", exitCode: 1, command: "./r", output: "…" }],
  decideModelVersion: [{ decision: "approved" }, { decision: "approved" }, { decision: "rejected", reason: "slow" }],
  setModelVersionStage: [{ stage: "production" }, { stage: "staging", reason: "look" }, { stage: "canary" }],
  createModel: [{ name: "@fresh" }, { name: "größer # 1", tags: { a: "b" } }, { name: "gated" }],
  registerModelVersion: [
    { name: "@model", source: "s3://b/1" },
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
  setModelAlias: [{ version: "@version" }, { version: 1 }, { version: 99 }],
  setModelVersionSemver: [{ semver: "1.0.0" }, { semver: "2.0.0-rc.1" }],
  setModelPolicy: [
    { approvals: { required: 2, approvers: ["ada", "grace"], notTheSubmitter: true } },
    { rules: { thresholds: { accuracy: 0.9 }, noRegression: {} } },
    reviewed,
    {},
  ],
  judgeModelVersion: [{ reason: "again" }],
  restoreModel: [{}],
  restoreModelVersion: [{}],
  createExport: [{ format: "safetensors" }, { format: "onnx" }, { format: "tfjs" }, { format: "savedmodel" }],
  setTraffic: [
    {},
    { canaries: [{ version: "@canary", weight: 0.1 }], shadows: [3], test: { metric: "clicks", effect: 0.02 } },
  ],
  routeUnits: [{ units: ["a"] }, { units: ["a", "b", "ä#/"] }],
  reportOutcomes: [
    { epoch: "@outcomeEpoch", outcomes: [{ unit: "a", value: 1 }] },
    { epoch: 0, outcomes: [{ unit: "a", value: 1 }] },
  ],
  logShadow: [{ observations: [{ unit: "a", served: "cat", shadow: [0.2, 0.8] }] }],
  rollBackModel: [{}, { reason: "slow" }],
  logInferences: [
    {
      version: 1,
      rows: [{ unit: "a", at: "2026-01-01T00:00:00.000Z", row: { x: 1, y: null, z: [[1, 2]] }, prediction: "cat" }],
    },
    { version: 1, rows: [{ unit: "b", at: "2026-01-01T00:00:00.000Z", row: {}, prediction: 0.5, label: false }] },
  ],
  registerFeatureView: [
    { definition: { ...spendView, name: "@fresh" } },
    { definition: { ...spendView, name: "spend", ttl: "7d", steps: [{ kind: "log", column: "spend" }] } },
    { definition: { ...spendView, name: "spend", columns: { customer: "string", at: "timestamp", spend: "float" } } },
    { definition: { ...spendView, name: "spend", entities: [] }, allowIncompatible: true },
  ],
  registerFeatureBatch: [
    { generation: 1, rows: 1, latestTime: "2026-01-01T00:00:00.000Z", files: [fileOf("0".repeat(64), 5)] },
  ],
  sendFeatureRows: [
    { rows: [{ customer: 1, at: "2026-01-01T00:00:00.000Z", spend: 1.5 }] },
    { rows: [{ customer: "x", at: "now", extra: true }] },
  ],
  readOnlineFeatures: [
    { views: ["@view"], entities: [{ customer: 1 }, { customer: 2 }] },
    { views: ["@view", "@view"], entities: [{ customer: 1 }], fullNames: true },
    { views: ["@view@9"], entities: [{}] },
  ],
  createMonitor: [
    { name: "@fresh", target: { type: "dataset", dataset: "@dataset" }, thresholds: { psi: 0.3 } },
    {
      name: "inputs",
      target: { type: "model", model: "@model", samplingRate: 0.5, schedule: { expression: "rate(1 day)" } },
    },
    { name: "shop", target: { type: "dataset", dataset: "steady", baseline: 1 } },
  ],
  createTrigger: [triggerNamed("@fresh"), triggerNamed("nightly")],
  replaceTrigger: [triggerNamed("@trigger")],
  receiveHook: [{}, { branch: "main" }],
  disableTrigger: [{}, { reason: "in doubt" }],
  deprecateDatasetVersion: [{}, { reason: "old" }],
  pushPipeline: [
    { name: "@fresh", steps: { count: { api: { operation: "listStudies" } } } },
    { name: "fuzzed", parameters: { n: { type: "integer" } }, steps: { a: { fail: `\${parameters.n}` } }, finally: {} },
  ],
  startPipelineRun: [
    { pipeline_id: "@pipeline" },
    { pipeline_id: "@pipeline", version: 1, config: { rows: 2 }, no_cache: ["count"] },
  ],
  resumePipelineRun: [{}, { newest: true }],
  setDataContract: [{ contract: { rules: [] } }, { contract: { rules: wideContract }, ifRevision: 0, reason: "first" }],
  reportBlockedPush: [
    {
      ...{ revision: 1, digest: "a".repeat(64), at: "2026-01-01T00:00:00Z", rows: 3, file: "march.csv" },
      violations: [
        {
          ...{ rule: "notNull", index: 0, severity: "block", columns: ["x"], requirement: "must not be missing" },
          ...{ status: "violated", rows: 1, samples: [{ row: 2, values: { x: null } }] },
        },
      ],
    },
  ],
};
