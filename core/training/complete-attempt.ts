import type { Meter } from "../metering/metrics";
import { isoTime } from "../ports";
import { type AttemptEnd, monthOf } from "../runs/attempts";
import type { RunDetails, TrainingAttempt } from "../runs/shapes";
import { spansOfRows, usageOf } from "../runs/usage";
import { jobRequestOf, type LaunchDependencies } from "./launch";
import type { RunEvents } from "./run-ended";

export interface CompleteAttemptDependencies extends LaunchDependencies {
  readonly meter: Meter;
  readonly runEvents: RunEvents;
}

/**
 * Completes an attempt with its usage, and counts its hours and dollars once, in the process that writes the end.
 * @param from `batch` requests the workers' times from the service; `rows` uses the rows that its events have written,
 * if the end must not wait for a response
 */
export async function completeAttempt(
  dependencies: CompleteAttemptDependencies,
  details: RunDetails,
  attempt: TrainingAttempt,
  end: Pick<AttemptEnd, "status" | "reason">,
  from: "batch" | "rows",
): Promise<void> {
  if (attempt.status === "succeeded" || attempt.status === "failed") return;
  const { runs, jobs, clock, meter } = dependencies;
  const { run, machines, workers } = details;
  const { resources } = run.job;
  const spans =
    from === "batch" && attempt.jobId !== undefined
      ? (await jobs.spans(attempt.jobId, jobRequestOf(run, attempt))).map((span) => ({
          ...span,
          // A shared job has trained other runs before.
          startedAt: Math.max(span.startedAt, Date.parse(attempt.startedAt)),
        }))
      : spansOfRows(workers, attempt.attempt);
  const usage = usageOf(attempt, resources, spans, machines, clock.now());
  const { jobId } = attempt;
  const at = isoTime(clock);
  if (!(await runs.completeAttempt(run.runId, attempt.attempt, { ...end, at, usage, jobId }))) return;
  const month = await runs.monthUsage(monthOf(at));
  const { workerSeconds, gpuSeconds, estimatedUsd } = usage;
  meter.emit(
    {
      WorkerHours: workerSeconds / 3600,
      ...(gpuSeconds === 0 ? {} : { GpuHours: gpuSeconds / 3600 }),
      ...(estimatedUsd === undefined ? {} : { EstimatedDollars: estimatedUsd }),
      MonthDollars: month.estimatedUsd,
    },
    run.team,
    { runId: run.runId, attempt: attempt.attempt, market: attempt.market },
  );
}
