/** The data of the examples of requests. The document's test checks each against its schema. */
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

const triggerDefinition = {
  name: "on-digits",
  on: { type: "dataset", dataset: "digits" },
  start: { job },
} as const;

const pipelineDefinition = {
  name: "weekly",
  parameters: { rows: { type: "integer", default: 1_000 } },
  steps: { count: { api: { operation: "listStudies" }, when: `\${parameters.rows > 0}` } },
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

export const examples = {
  content,
  job,
  draft,
  studyDefinition,
  triggerDefinition,
  pipelineDefinition,
} as const;
