import * as z from "zod";
import { count, nextToken } from "../../core/shapes";
import { searchLimits } from "../../core/tracking/shapes";
import { axis, compareLimits, comparison, goal } from "../compare/comparison";
import { operationsFor, response } from "../operation";
import { runIdText, searchedRun } from "../schemas/runs";

const operation = operationsFor("Runs");
const total = count.meta({ description: "Number of runs that match the query, on all pages." });

export const searchRuns = operation("searchRuns", "POST /runs/search", {
  scope: "read",
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
        .meta({ description: "Ids or names; default: all experiments of the team." }),
      filter: z.string().max(searchLimits.filterLength).default("").meta({ description: "Empty: every run." }),
      orderBy: z
        .array(z.string().max(searchLimits.filterLength))
        .max(searchLimits.orderTerms)
        .default([])
        .meta({ description: "`metrics.val_loss ASC`, …; then newest first. Runs without the value come last." }),
      limit: z.int().min(1).max(1_000).default(50).meta({ description: "Maximum number." }),
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
    200: response(
      "Runs in the requested order.",
      z.object({ runs: z.array(searchedRun), total, nextToken }).meta({ id: "RunSearchPage" }),
    ),
  },
  errors: ["EXPERIMENT_NOT_FOUND"],
});

const metric = z.string().min(1).max(250);

export const compareRuns = operation("compareRuns", "POST /runs/compare", {
  scope: "read",
  summary: "Compare runs: params that differ, metrics against a baseline, curves on one axis",
  description:
    "Runs are named, or are the best of a search by a metric. As JSON, as Markdown, or as a self-contained page with plots. docs/compare.md.",
  body: z
    .strictObject({
      runs: z.array(runIdText).min(1).max(compareLimits.runs).optional(),
      top: z
        .strictObject({
          metric,
          goal: goal.optional().meta({ description: "Goal that follows from the metric's name, if any." }),
          count: z.int().min(1).max(compareLimits.runs).default(10),
          experiments: z.array(z.string().min(1).max(500)).max(100).default([]),
          filter: z
            .string()
            .max(searchLimits.filterLength - 1_000)
            .default(""),
        })
        .optional()
        .meta({ description: "The best of a search by a metric's last value." }),
      baseline: runIdText.optional().meta({ description: "The run with which the others are compared." }),
      metrics: z
        .array(metric)
        .max(compareLimits.metrics)
        .default([])
        .meta({ description: "All, where none is named." }),
      goals: z.record(metric, goal).default({}),
      axis: axis.default("step"),
      points: z
        .int()
        .min(0)
        .max(compareLimits.points)
        .default(200)
        .meta({ description: "Maximum number of points of a curve, fewer if there are many curves; 0: no curves." }),
      format: z.enum(["json", "markdown", "html"]).default("json"),
    })
    .refine(({ runs, top }) => (runs === undefined) !== (top === undefined), {
      path: ["runs"],
      error: "must be given, or top, and not both",
    })
    .meta({ id: "CompareRequest" }),
  bodyExample: { top: { metric: "validation/loss", count: 5, experiments: ["digits"] } },
  idempotent: true,
  class: "heavy",
  responses: {
    200: {
      description: "The comparison, in the requested format.",
      schema: comparison,
      content: ["application/json", "text/markdown", "text/html"],
    },
  },
  errors: ["RUN_NOT_FOUND", "EXPERIMENT_NOT_FOUND"],
});
