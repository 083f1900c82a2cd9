import { jobSchema } from "../core/runs/job";
import { studyDefinitionSchema } from "../core/tuning/study";

/** The data of all examples of the document. The document's test checks each against its schema. */
const at = "2026-01-01T09:30:00.000Z";
const digest = (letter: string): string => letter.repeat(64);
const content = { sha256: digest("c"), bytes: 1_048_576 };
const dataset = { name: "digits", version: 1, digest: digest("d") };

const job = {
  experiment: "digits",
  dataset: "digits@latest",
  registerAs: "digits",
  model: { type: "mlp", hidden: [128] },
  hyperparameters: { epochs: 5, learningRate: 0.001 },
  resources: { workers: 4 },
  evaluation: { thresholds: { accuracy: 0.95 } },
} as const;

const run = {
  runId: "run-0123456789abcdef",
  team: "default",
  status: "queued",
  job: jobSchema.parse(job),
  dataset,
  model: "digits",
  code: { commit: "9f86d08", dirty: false },
  noCache: false,
  requestDigest: digest("e"),
  createdBy: "ada",
  createdAt: at,
  updatedAt: at,
} as const;

const column = { name: "pixels", type: "tensor", role: "feature", shape: [28, 28, 1] } as const;
const index = (rows: number) => ({ sha256: digest("a"), bytes: rows * 4, rows });
const draft = {
  name: "digits",
  digest: dataset.digest,
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

const modelVersion = {
  model: "digits",
  version: 1,
  stage: "production",
  semver: "1.0.0",
  lifecycle: "active",
  description: "",
  tags: {},
  submittedBy: "ada",
  runId: run.runId,
  weightsSha256: digest("f"),
  artifactKey: `cas/sha256/${digest("a")}`,
  framework: "ringmaster",
  dataset,
  metrics: { accuracy: 0.97, logLoss: 0.11 },
  evaluationReport: content,
  approvals: [],
  createdAt: at,
  updatedAt: at,
} as const;

const outputSchema = { kind: "probabilities", classes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } as const;

const retrainingRuleDefinition = {
  name: "on-digits",
  trigger: { type: "dataset", dataset: "digits" },
  job,
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

const trial = {
  number: 0,
  params: { "hyperparameters.learningRate": 0.003, "model.hidden": [64] },
  state: "paused",
  until: 1,
  segment: 0,
  runId: run.runId,
  reports: [{ epoch: 1, value: 0.93 }],
  startedAt: at,
} as const;

const study = {
  name: "digits-tuning",
  team: "default",
  definition: studyDefinitionSchema.parse(studyDefinition),
  status: "running",
  revision: 1,
  parentRunId: "run-0123456789abcdef",
  best: [],
  extensions: 0,
  warmTrials: 0,
  createdBy: "ada",
  startedAt: at,
  createdAt: at,
  updatedAt: at,
} as const;

const retrainingCause = {
  rule: "on-digits",
  id: "dataset:digits@2",
  cause: { type: "dataset", at, dataset: "digits", version: 2 },
  state: "submitted",
  runId: run.runId,
  heardAt: at,
  changedAt: at,
} as const;

const experiment = {
  experimentId: "1",
  name: "digits",
  team: "default",
  lifecycle: "active",
  tags: {},
  artifactLocation: "mlflow-artifacts:/1",
  createdBy: "ada",
  createdAt: at,
  updatedAt: at,
  revision: 1,
} as const;

const runRecord = {
  runId: run.runId,
  team: "default",
  experimentId: experiment.experimentId,
  source: "logged",
  name: "three-deep",
  status: "running",
  lifecycle: "active",
  createdBy: "ada",
  startedAt: Date.parse(at),
  params: { depth: "3" },
  tags: {},
  notes: "",
  datasets: [],
  modelInputs: [],
  modelOutputs: [],
  code: { commit: "9f86d08", dirty: false },
  environment: {},
  artifactUri: `${experiment.artifactLocation}/${run.runId}/artifacts`,
  revision: 1,
} as const;

export const examples = {
  content,
  experiment,
  runRecord,
  describedRun: {
    run: runRecord,
    metrics: [{ metric: "accuracy", last: 0.97, lastStep: 0, lastTime: 1_767_259_800_000, min: 0.97, max: 0.97 }],
    children: [],
  },
  artifact: { path: "plots/loss.png", isDirectory: false, ...content },
  job,
  run,
  draft,
  datasetVersion: { manifest: { ...draft, version: 1, createdAt: at }, team: "default" },
  datasetSummary: { name: "digits", latestVersion: 1, rowCount: 10_000, bytes: content.bytes, updatedAt: at },
  inboxReport: {
    id: "9f86d081884c7d65",
    path: "digits/2026-01.csv",
    dataset: "digits",
    etag: "d41d8cd98f00b204e9800998ecf8427e",
    bytes: content.bytes,
    sequencer: "0063A1B2C3D4E5F601",
    putAt: at,
    updatedAt: at,
    status: "taken" as const,
    tries: 1,
    version: 2,
    created: true,
    rowCount: 10_000,
  },
  checkpoint: {
    finishedSteps: 500,
    epoch: 1,
    validation: { loss: 0.21, accuracy: 0.94 },
    bytes: 812_000,
    weightsSha256: digest("f"),
    createdAt: at,
  },
  model: {
    name: "digits",
    team: "default",
    revision: 5,
    lifecycle: "active",
    latestVersion: 1,
    firstVersion: 1,
    description: "",
    tags: {},
    aliases: { champion: 1 },
    production: 1,
    productionRevision: 5,
    formerProduction: [],
    createdBy: "ada",
    createdAt: at,
    updatedAt: at,
  },
  studyDefinition,
  study,
  trial,
  retrainingRuleDefinition,
  retrainingRule,
  retrainingCause,
  topicArn: "arn:aws:sns:eu-central-1:111122223333:ringmaster-team-default",
  notificationSettings: {
    url: "https://example.com/ringmaster",
    topic: false,
    events: ["run.failed", "approval.needed"],
    keyGeneration: 1,
    updatedBy: "ada",
    updatedAt: at,
  },
  notificationDelivery: {
    id: `run-ended-${run.runId}`,
    at,
    channel: "webhook",
    message: { id: `run-ended-${run.runId}`, type: "run.failed", body: "{…}" },
    status: "delivered",
    attempts: 1,
    answer: "status 204",
    answeredAt: at,
  },
  modelVersion,
  resolvedModel: {
    model: "digits",
    version: 1,
    revision: 5,
    runId: run.runId,
    artifactUri: `s3://ringmaster-data/${modelVersion.artifactKey}`,
    weightsUri: `s3://ringmaster-data/cas/sha256/${digest("f")}`,
    sha256: digest("f"),
    inputSchema: [column],
    outputSchema,
    metrics: modelVersion.metrics,
    artifact: {
      format: 1,
      runId: run.runId,
      model: "digits",
      weights: content,
      topology: content,
      weightsSha256: digest("f"),
      transform: {
        outputs: [{ kind: "numeric", column: "pixels", offset: 0, width: 784, source: 0, mean: 33.3, deviation: 78.6 }],
        width: 784,
        shape: [28, 28, 1],
      },
      label: { kind: "class", column: "label", classes: outputSchema.classes },
      inputSchema: [column],
      outputSchema,
      numerics: {
        backend: "native",
        device: "cpu",
        libraries: { "tfjs-core": "4.22.0", tensorflow: "2.21.0" },
        threads: { intraOp: 1, interOp: 1 },
        cpu: { model: "Intel(R) Xeon(R)", features: ["avx2", "fma"] },
        switches: {},
        node: "v22.0.0",
        platform: "linux",
        arch: "x64",
      },
    },
  },
} as const;
