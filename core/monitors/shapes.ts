import * as z from "zod";
import { datasetName } from "../datasets/shapes";
import { driftReport, driftThresholds, modelDriftReport, severities, thresholdsInput } from "../drift/shapes";
import type { DocumentKind } from "../object-documents";
import { contentReference, count, instant, type Shape } from "../shapes";
import { repeatedSchedule } from "../triggers/trigger";

const version = z.int().min(1).max(999_999_999);

export const monitorName = datasetName;

const modelTarget = z.strictObject({
  type: z.literal("model"),
  model: z.string().min(1).max(250),
  version: version.optional().meta({ description: "Absent: the version in production." }),
  everyRows: z
    .int()
    .min(100)
    .max(100_000)
    .optional()
    .meta({ description: "A window ends when so many inferences are stored. Default without a schedule: 5,000." }),
  schedule: repeatedSchedule
    .optional()
    .meta({ description: "A window ends at these times: rate(…) or cron(…) of EventBridge Scheduler." }),
  minRows: z
    .int()
    .min(100)
    .max(100_000)
    .default(500)
    .meta({ description: "A window on a schedule waits for so many rows." }),
  samplingRate: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .meta({ description: "Share of the units whose rows are stored and compared." }),
});

const datasetTarget = z.strictObject({
  type: z.literal("dataset"),
  dataset: datasetName,
  baseline: version.optional().meta({ description: "Absent: the version that was compared before." }),
});

const targetInput = z.discriminatedUnion("type", [modelTarget, datasetTarget]);

export const monitorTarget = targetInput.meta({
  id: "MonitorTarget",
  description: "The inferences of a model, or the versions of a dataset.",
});
export type MonitorTarget = Shape<typeof monitorTarget>;

export const monitorDefinition = z
  .strictObject({ name: monitorName, target: targetInput, thresholds: thresholdsInput.prefault({}) })
  .meta({ id: "MonitorDefinition" });
export interface MonitorDefinition extends Shape<typeof monitorDefinition> {}

const position = z
  .object({
    version: count.meta({
      description: "Version of the model whose rows are read, or version that was compared last.",
    }),
    sequences: z
      .record(z.string(), count)
      .meta({ description: "By version of the model: the last batch of inferences in a window." }),
    at: instant.meta({ description: "End of the last window. Before the first one: when the monitor was created." }),
  })
  .meta({ id: "MonitorPosition" });
export type MonitorPosition = Shape<typeof position>;

export const monitor = z
  .object({
    name: z.string(),
    target: monitorTarget,
    thresholds: driftThresholds,
    team: z.string(),
    revision: z.int().min(1),
    windows: count.meta({ description: "Number of the last window." }),
    position,
    lastFailure: z
      .object({ code: z.string(), message: z.string(), at: instant })
      .optional()
      .meta({ description: "The reason for which the next window cannot be measured." }),
    createdBy: z.string(),
    createdAt: instant,
    updatedAt: instant,
    deletedAt: instant.optional(),
  })
  .meta({ id: "Monitor", description: "Compares new rows with a baseline, window by window." });
export interface Monitor extends Shape<typeof monitor> {}

export const monitorWindow = z
  .object({
    monitor: z.string(),
    window: z.int().min(1),
    end: instant.meta({ description: "Identifies the window as a cause of triggers." }),
    version: z.int().meta({ description: "Version of the model, or of the dataset." }),
    rows: count.meta({ description: "Current rows that were measured." }),
    severity: z.enum(severities).optional().meta({ description: "Absent: no drift." }),
    drifted: z.array(z.string()).meta({ description: "Names of columns with drift, at most 20." }),
    auc: z.number().optional().meta({ description: "AUC of the test of all columns together." }),
    report: contentReference,
    evaluatedAt: instant,
    published: z
      .boolean()
      .meta({ description: "Whether the event `Drift Detected` was published; true without drift." }),
  })
  .meta({ id: "MonitorWindow", description: "Result of a window." });
export interface MonitorWindow extends Shape<typeof monitorWindow> {}

export const windowReport = z.union([modelDriftReport, driftReport]);
export type WindowReport = Shape<typeof windowReport>;

export const storedWindowReport: DocumentKind<WindowReport> = {
  name: "the report of a window",
  schema: windowReport,
  maxBytes: 2 ** 26,
};

/** Describes what a monitor watches: `model churn, the version in production`. */
export function targetText(target: Monitor["target"]): string {
  if (target.type === "model") return `model ${target.model}, ${versionText(target.version)}`;
  const baseline = target.baseline === undefined ? "the version before" : `version ${target.baseline}`;
  return `dataset ${target.dataset}, against ${baseline}`;
}

const versionText = (version: number | undefined): string =>
  version === undefined ? "the version in production" : `version ${version}`;
