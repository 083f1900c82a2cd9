import * as z from "zod";
import { attempt } from "../../core/runs/shapes";
import { datasetFields, experimentName, runRecord } from "../../core/tracking/shapes";
import { metricSummary } from "./runs";

export const lifecycleView = z
  .enum(["active", "deleted", "all"])
  .default("active")
  .meta({ description: "Active ones, deleted ones, or both." });

export const experimentIdText = z.string().regex(/^\d{1,12}$/, "must be the digits of an experiment's id");

export const runIdText = z.string().min(1).max(255);

/** A dataset as a client describes it. */
export const datasetGiven = z
  .strictObject({
    ...datasetFields,
    sourceType: datasetFields.sourceType.default("local"),
    source: datasetFields.source.default(""),
    tags: datasetFields.tags.default({}),
  })
  .meta({ id: "RunDatasetInput", description: "Data that a run read, as its client reports it." });

export const runView = z
  .object({
    run: runRecord,
    metrics: z.array(metricSummary).meta({ description: "Sorted by name." }),
    children: z.array(z.string()).meta({ description: "Ids of the runs that name this one as their parent." }),
    attempts: z.array(attempt).optional().meta({ description: "Batch jobs of a training run." }),
  })
  .meta({ id: "RunView", description: "A run's record and what belongs to it." });

export { experimentName };

/** A record without its long parts, which no search reads. `GET /runs/{runId}` returns all. */
export const runSummary = runRecord
  .omit({ job: true, environment: true })
  .meta({ id: "RunSummary", description: "A run's record without its job (whose leaves are params) and environment." });

export const searchedRun = z
  .object({ run: runSummary, metrics: z.array(metricSummary).meta({ description: "Sorted by name." }) })
  .meta({ id: "SearchedRun" });
