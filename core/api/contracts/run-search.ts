import { z } from "zod";
import { searchLimits } from "../../tracking/search/parser";
import { contract } from "../contract";
import { examples } from "../examples";
import { nextToken } from "../schemas/common";
import { searchedRun } from "../schemas/search";

const tag = "Runs";

export const searchRuns = contract({
  operationId: "searchRuns",
  method: "POST",
  path: "/runs/search",
  tag,
  summary: "Search runs by metrics, params, tags, attributes and datasets",
  description:
    "Sees every change that was acknowledged before. The language is in docs/search.md: " +
    "`params.learning_rate BETWEEN 1e-4 AND 1e-3 AND status = 'completed'`. A page is shorter than its limit where it would be larger than an answer may be.",
  body: z
    .strictObject({
      experiments: z
        .array(z.string().min(1).max(500))
        .max(100)
        .default([])
        .meta({ description: "By id or by name; all of the team's where none is named." }),
      filter: z.string().max(searchLimits.filterLength).default("").meta({ description: "Empty: every run." }),
      orderBy: z
        .array(z.string().max(searchLimits.filterLength))
        .max(searchLimits.orderTerms)
        .default([])
        .meta({ description: "`metrics.val_loss ASC`, …; then newest first. Runs without the value come last." }),
      limit: z.int().min(1).max(1_000).default(50).meta({ description: "How many, at most." }),
      pageToken: z.string().max(100_000).optional().meta({ description: "`nextToken` of the page before." }),
      view: z.enum(["active", "deleted", "all"]).default("active"),
    })
    .meta({ id: "RunSearchRequest" }),
  bodyExample: {
    experiments: ["digits"],
    filter: "params.learning_rate BETWEEN 1e-4 AND 1e-3",
    orderBy: ["metrics.val_loss"],
    limit: 10,
  },
  idempotent: true,
  class: "read",
  responses: {
    200: {
      description: "Runs in the order asked for.",
      schema: z.object({ runs: z.array(searchedRun), nextToken }).meta({ id: "RunSearchPage" }),
      example: { runs: [{ run: summaryExample(), metrics: examples.runView.metrics }] },
    },
  },
  errors: ["EXPERIMENT_NOT_FOUND"],
});

function summaryExample() {
  const { environment: _environment, ...summary } = examples.runRecord;
  return summary;
}
