import { jobSchema } from "../core/runs/job";

/** The data of the examples of requests. The document's test checks each against its schema. */
const at = "2026-01-01T09:30:00.000Z";
const digest = (letter: string): string => letter.repeat(64);
const content = { sha256: digest("c"), bytes: 1_048_576 };
const job = {
  experiment: "digits",
  dataset: "digits@latest",
  registerAs: "digits",
  model: { type: "mlp", hidden: [128] },
  hyperparameters: { epochs: 5, learningRate: 0.001 },
  resources: { workers: 4 },
  evaluation: { thresholds: { accuracy: 0.95 } },
} as const;

const column = { name: "pixels", type: "tensor", role: "feature", shape: [28, 28, 1] } as const;
const index = (rows: number) => ({ sha256: digest("a"), bytes: rows * 4, rows });
const draft = {
  name: "digits",
  digest: digest("d"),
  schema: [column, { name: "label", type: "int", role: "label" }],
  schemaHash: digest("b"),
  rowCount: 10_000,
  bytes: content.bytes,
  shards: [{ ...content, rows: 10_000 }],
  split: {
    seed: 0,
    fractions: { train: 0.8, validation: 0.1, test: 0.1 },
    stratifyBy: "label",
    indexes: { train: index(8_000), validation: index(1_000), test: index(1_000) },
  },
} as const;

const retrainingRuleDefinition = {
  name: "on-digits",
  trigger: { type: "dataset", dataset: "digits" },
  job,
} as const;

const pipelineDefinition = {
  name: "weekly",
  parameters: { rows: { type: "integer", default: 1_000 } },
  steps: { count: { api: { operation: "listStudies" }, when: `\${parameters.rows > 0}` } },
};
const planSha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const pipelineVersion = { name: "weekly", version: 1, planSha256, steps: 1, createdBy: "ada", createdAt: at };
const pipelineRun = {
  ...{ pipelineRunId: "prun-4be1c0d7a2f39e85", team: "default", pipeline: "weekly", version: 1, planSha256 },
  ...{
    parameters: { rows: 1_000 },
    status: "running",
    depth: 0,
    requestDigest: planSha256,
    createdBy: "ada",
    createdAt: at,
  },
} as const;

const retrainingRule = {
  name: "on-digits",
  trigger: { type: "dataset", dataset: "digits" },
  job: jobSchema.parse(job),
  code: {},
  cooldownMinutes: 0,
  team: "default",
  revision: 1,
  enabled: true,
  since: at,
  createdBy: "ada",
  createdAt: at,
  updatedAt: at,
} as const;

const studyDefinition = {
  name: "digits-tuning",
  job,
  objectives: [{ metric: "validation/accuracy", direction: "maximize" }],
  space: {
    "hyperparameters.learningRate": { type: "float", low: 0.0001, high: 0.1, log: true },
    "model.hidden": { type: "categorical", choices: [[64], [256, 128]] },
  },
  scheduler: { type: "hyperband" },
  parallel: 4,
  stop: { trials: 24 },
  best: { registerAs: "digits" },
} as const;

const retrainingCause = {
  rule: "on-digits",
  id: "dataset:digits@2",
  cause: { type: "dataset", at, dataset: "digits", version: 2 },
  state: "submitted",
  runId: "run-0123456789abcdef",
  heardAt: at,
  changedAt: at,
} as const;

export const examples = {
  content,
  job,
  draft,
  studyDefinition,
  retrainingRuleDefinition,
  retrainingRule,
  pipelineDefinition,
  pipelineVersion,
  pipelineRun,
  retrainingCause,
} as const;
