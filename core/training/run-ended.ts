import * as z from "zod";
import { testPrefix } from "../evaluation/metric-goal";
import { evaluationKind } from "../evaluation/shapes";
import { registrationKind } from "../registry/model";
import type { Run, RunDetails } from "../runs/shapes";
import { findOutput } from "../runs/step";

const maxMetrics = 50;
const maxMessage = 2_000;

/** A repetition has the same id, type, time and failure. A step that ran at a kill may add a version or metrics. */
export const runEndedSchema = z.object({
  id: z.string(),
  type: z.enum(["run.completed", "run.failed", "run.killed"]),
  /** Time of the run's end. ISO 8601. */
  at: z.string(),
  team: z.string(),
  runId: z.string(),
  experiment: z.string(),
  model: z.string().optional(),
  version: z.int().optional(),
  decision: z.enum(["promoted", "registered", "refused-by-gate", "rejected", "not-registered"]).optional(),
  reasons: z.array(z.string()).optional(),
  failure: z.object({ code: z.string(), message: z.string(), phase: z.string().optional() }).optional(),
  /** Metrics of the test split, named as in the run: `test/accuracy`. */
  metrics: z.record(z.string(), z.number()),
  durationSeconds: z.number(),
  submittedBy: z.string(),
  trial: z.object({ study: z.string(), number: z.int() }).optional(),
  cause: z.object({ trigger: z.string(), id: z.string() }).optional(),
});
export type RunEnded = z.infer<typeof runEndedSchema>;

/** The event of a run's pause. A repetition has the same id. */
export interface RunPaused {
  readonly id: string;
  readonly type: "run.paused";
  /** ISO 8601. */
  readonly at: string;
  readonly team: string;
  readonly runId: string;
  readonly experiment: string;
  readonly segment: number;
  /** Number of finished epochs. */
  readonly epoch: number;
  readonly trial?: Run["trial"];
}

export interface RunEvents {
  publishRunPaused(event: RunPaused): Promise<void>;
  publishRunEnded(event: RunEnded): Promise<void>;
}

/** Builds the event for an ended run; `undefined` for an open one. */
export function runEnded(details: RunDetails): RunEnded | undefined {
  const { run } = details;
  const { runId, status, endedAt, failure, outcome } = run;
  if (status === "queued" || status === "running" || status === "paused" || endedAt === undefined) return undefined;
  const metrics = findOutput(details, evaluationKind)?.metrics ?? {};
  return {
    id: `run-ended-${runId}`,
    type: `run.${status}`,
    at: endedAt,
    team: run.team,
    runId,
    experiment: run.job.experiment,
    model: run.model,
    version:
      (outcome && "version" in outcome ? outcome.version : undefined) ?? findOutput(details, registrationKind)?.version,
    decision: outcome?.decision,
    reasons: outcome && "reasons" in outcome ? outcome.reasons.map(shortened) : undefined,
    failure: failure && { code: failure.code, message: shortened(failure.message), phase: failure.phase },
    metrics: Object.fromEntries(
      Object.entries(metrics)
        .slice(0, maxMetrics)
        .map(([name, value]) => [testPrefix + name, value]),
    ),
    durationSeconds: (Date.parse(endedAt) - Date.parse(run.createdAt)) / 1_000,
    submittedBy: run.createdBy,
    ...(run.trial ? { trial: run.trial } : {}),
    ...(run.cause ? { cause: { trigger: run.cause.trigger, id: run.cause.id } } : {}),
  };
}

function shortened(text: string): string {
  return text.length <= maxMessage ? text : `${text.slice(0, maxMessage)}…`;
}
