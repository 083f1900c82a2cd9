import * as z from "zod";
import { phase } from "../../core/runs/shapes";
import { metricValue, type Shape } from "../../core/shapes";
import { runStatus } from "../../core/tracking/shapes";

export const axis = z.enum(["step", "time", "relative-time"]);
export type Axis = Shape<typeof axis>;

export const goal = z.enum(["min", "max"]).meta({ description: "Whether less or more is better." });
export type Goal = Shape<typeof goal>;

const row = z
  .object({ name: z.string(), values: z.array(z.string().nullable()) })
  .meta({ id: "ComparisonRow", description: "A field of all runs, in their order; null where one has none." });
export interface Row extends Shape<typeof row> {}

const cell = z
  .object({
    last: metricValue,
    lastStep: z.number(),
    min: metricValue,
    max: metricValue,
    delta: z.number().optional().meta({ description: "Difference of the last value from the baseline's." }),
    relativeDelta: z.number().optional().meta({ description: "Relative to the baseline's absolute value." }),
  })
  .meta({ id: "ComparisonCell" });
export interface MetricCell extends Shape<typeof cell> {}

const series = z
  .object({
    runId: z.string(),
    x: z.array(z.number()),
    y: z.array(metricValue),
    total: z.int().meta({ description: "Number of points." }),
  })
  .meta({ id: "ComparisonSeries", description: "Parallel columns, ascending by x; downsampled (min/max kept)." });
export interface CurveSeries extends Shape<typeof series> {}

export const comparison = z
  .object({
    runs: z.array(
      z.object({
        runId: z.string(),
        name: z.string(),
        experimentId: z.string(),
        status: runStatus,
        phase: phase.optional().meta({ description: "Progress of an open training run." }),
        source: z.string(),
        primaryMetric: z.string().optional(),
        reusedFrom: z
          .string()
          .optional()
          .meta({ description: "Id of the run whose training and metrics this run reuses." }),
        createdBy: z.string(),
        startedAt: z.number(),
        endedAt: z.number().optional(),
      }),
    ),
    baseline: z.string().optional(),
    rankedBy: z.object({ metric: z.string(), goal }).optional(),
    params: z.object({
      differing: z.array(row),
      common: z.array(z.object({ name: z.string(), value: z.string() })),
    }),
    metrics: z.array(
      z.object({
        metric: z.string(),
        goal: goal.optional(),
        values: z.array(cell.nullable()),
        best: z.array(z.string()).meta({ description: "Ids of the runs with the best last value." }),
      }),
    ),
    curves: z.array(z.object({ metric: z.string(), axis, series: z.array(series) })),
    differences: z.object({ code: z.array(row), data: z.array(row), environment: z.array(row) }),
  })
  .meta({ id: "Comparison", description: "Runs side by side." });
export interface Comparison extends Shape<typeof comparison> {}
export type Curve = Comparison["curves"][number];
export type MetricRow = Comparison["metrics"][number];

export const compareLimits = { runs: 50, metrics: 100, curves: 24, points: 2_000 } as const;
