import { z } from "zod";
import { runRecord } from "../../core/tracking/shapes";
import { metricSummary } from "./runs";

/** A record without what is long and no search is about: `GET /runs/{runId}` tells all. */
export const runSummary = runRecord
  .omit({ job: true, environment: true })
  .meta({ id: "RunSummary", description: "A run's record without its job (whose leaves are params) and environment." });

export const searchedRun = z
  .object({ run: runSummary, metrics: z.array(metricSummary).meta({ description: "By name." }) })
  .meta({ id: "SearchedRun" });
