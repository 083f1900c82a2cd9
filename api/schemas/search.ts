import * as z from "zod";
import { runRecord } from "../../core/tracking/shapes";
import { metricSummary } from "./runs";

/** A record without its long parts, which no search reads. `GET /runs/{runId}` returns all. */
export const runSummary = runRecord
  .omit({ job: true, environment: true })
  .meta({ id: "RunSummary", description: "A run's record without its job (whose leaves are params) and environment." });

export const searchedRun = z
  .object({ run: runSummary, metrics: z.array(metricSummary).meta({ description: "Sorted by name." }) })
  .meta({ id: "SearchedRun" });
