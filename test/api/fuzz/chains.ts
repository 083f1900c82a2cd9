import { reviewed } from "./good";

export interface Step {
  readonly operationId: string;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Path parameters that are not the thing's. */
  readonly path?: Readonly<Record<string, string>>;
}

/** Requests one behind the other, about one thing: what each answers is known to the next. */
export interface Chain {
  /** Names that the thing must have; if empty, the first steps create it. */
  readonly about: readonly string[];
  readonly steps: readonly Step[];
}

const version = (metrics: object): Step => ({
  operationId: "registerModelVersion",
  body: { name: "@model", source: "s3://b/1", metrics },
});
const promotion: readonly Step[] = [
  version({ accuracy: 0.9 }),
  { operationId: "judgeModelVersion", body: {} },
  { operationId: "answerModelCheck", path: { check: "review" }, body: { passed: true, evidence: "fine" } },
  { operationId: "decideModelVersion", body: { decision: "approved" } },
  { operationId: "setModelVersionStage", body: { stage: "production" } },
];

export const chains: readonly Chain[] = [
  {
    about: [],
    steps: [
      { operationId: "createModel", body: { name: "@fresh" } },
      { operationId: "setModelPolicy", body: reviewed },
      ...promotion,
      { operationId: "getProductionModel" },
      ...promotion,
      { operationId: "getProductionModel", headers: { "If-None-Match": "*" } },
      { operationId: "rollBackModel", body: { reason: "slow" } },
      { operationId: "getModelVersionReport", query: { format: "html" } },
      { operationId: "getModelVersionReport", query: { format: "markdown" } },
      { operationId: "getModel" },
    ],
  },
  {
    about: ["model", "canary"],
    steps: [
      { operationId: "setModelVersionStage", body: { stage: "canary" } },
      {
        operationId: "setTraffic",
        body: {
          canaries: [{ version: "@canary", weight: 0.5 }],
          test: { metric: "clicks", effect: 0.02, minUnits: 10 },
        },
      },
      { operationId: "routeUnits", body: { units: ["a", "b"] } },
      { operationId: "reportOutcomes", body: { epoch: "@outcomeEpoch", outcomes: [{ unit: "a", value: 1 }] } },
      { operationId: "decideTraffic" },
      { operationId: "logShadow", body: { observations: [{ unit: "a", served: 1, shadow: 2 }] } },
      { operationId: "getShadow" },
      { operationId: "getTraffic" },
      { operationId: "rollBackModel", body: {} },
    ],
  },
  {
    about: ["model", "version"],
    steps: [
      { operationId: "getModelCheckKey", path: { check: "hook" } },
      { operationId: "setModelAlias", path: { alias: "blue" }, body: { version: "@version" } },
      { operationId: "getModelAlias", path: { alias: "blue" } },
      { operationId: "deleteModelAlias", path: { alias: "blue" } },
      { operationId: "getModelVersionLineage" },
      { operationId: "deleteModelVersion" },
      { operationId: "restoreModelVersion", body: {} },
    ],
  },
  {
    about: [],
    steps: [
      { operationId: "createModel", body: { name: "@fresh", tags: { a: "b" } } },
      { operationId: "untagModel", query: { key: "a" } },
      { operationId: "deleteModel", query: { reason: "by mistake" } },
      { operationId: "getModel" },
      { operationId: "restoreModel", body: {} },
      version({}),
      { operationId: "setModelVersionSemver", body: { semver: "1.0.0" } },
    ],
  },
  {
    about: ["experimentId"],
    steps: [
      { operationId: "logRun", body: { experimentId: "@experimentId" } },
      { operationId: "logParams", body: { params: { depth: "3" } } },
      {
        operationId: "logMetrics",
        body: { series: [{ metric: "loss", steps: [1, 2], values: [0.5, "NaN"], times: [1, 2] }] },
      },
      { operationId: "getRunMetrics", query: { metric: "loss" } },
      { operationId: "getRunMetricHistory", query: { metric: "loss", limit: "1" } },
      { operationId: "putRunArtifacts", body: { artifacts: [{ path: "its/file.txt", sha256: "@sha256" }] } },
      { operationId: "listRunArtifacts", query: { path: "its" } },
      { operationId: "getRunArtifact", query: { path: "its/file.txt" } },
      { operationId: "getRunFile", query: { path: "its/file.txt" } },
      { operationId: "getExperimentRun" },
      { operationId: "deleteRun" },
      { operationId: "restoreRun" },
      { operationId: "changeRun", body: { status: "completed" } },
    ],
  },
  {
    about: [],
    steps: [
      { operationId: "createExperiment", body: { name: "@fresh" } },
      { operationId: "changeExperiment", body: { tags: { goal: "none" }, lifecycle: "deleted" } },
      { operationId: "logRun", body: { experimentId: "@experimentId" } },
      { operationId: "changeExperiment", body: { lifecycle: "active" } },
      { operationId: "logRun", body: { experimentId: "@experimentId" } },
      { operationId: "listExperimentRuns", query: { limit: "1" } },
    ],
  },
  {
    about: ["trainedRun"],
    steps: [
      { operationId: "reproduceTrainingRun" },
      { operationId: "getReproduction" },
      { operationId: "getTrainingRunMetrics", headers: { accept: "text/event-stream" } },
      { operationId: "cancelTrainingRun" },
      { operationId: "getReproduction" },
      { operationId: "getTrainingRunMetrics", headers: { accept: "text/event-stream" } },
    ],
  },
  {
    about: [],
    steps: [
      { operationId: "createMonitor" },
      { operationId: "getMonitor" },
      { operationId: "listMonitorWindows", query: { limit: "1" } },
      { operationId: "deleteMonitor" },
      { operationId: "createMonitor" },
    ],
  },
  {
    about: [],
    steps: [
      { operationId: "createRetrainingRule" },
      { operationId: "replaceRetrainingRule" },
      { operationId: "disableRetrainingRule", body: { reason: "in doubt" } },
      { operationId: "enableRetrainingRule" },
      { operationId: "runRetrainingRule" },
      { operationId: "listRetrainingCauses", query: { limit: "1" } },
      { operationId: "deleteRetrainingRule" },
      { operationId: "getRetrainingRule" },
    ],
  },
  {
    about: ["dataset"],
    steps: [
      { operationId: "setDataContract", body: { contract: { rules: [{ rule: "rowCount", minimum: 1 }] } } },
      { operationId: "setDataContract", body: { contract: { rules: [] }, ifRevision: 1 } },
      { operationId: "getDataContract", query: { revision: "1" } },
      { operationId: "listDataContracts", query: { limit: "1" } },
    ],
  },
  {
    about: ["dataset", "draft"],
    steps: [
      { operationId: "registerDatasetVersion", body: { draft: "@draft" } },
      { operationId: "deprecateDatasetVersion", body: { reason: "old" } },
      { operationId: "getDataset" },
    ],
  },
  {
    about: ["checkpointedRun"],
    steps: [
      { operationId: "listCheckpoints" },
      { operationId: "restoreTrainingRun", path: { epoch: "2" }, body: {} },
      { operationId: "submitTrainingRun" },
    ],
  },
  {
    about: ["exportable"],
    steps: ["safetensors", "onnx", "tfjs"].flatMap((format) => [
      { operationId: "createExport", body: { format } },
      { operationId: "listExports" },
    ]),
  },
  { about: ["id"], steps: [{ operationId: "retryInboxFile" }, { operationId: "retryInboxFile" }] },
];
