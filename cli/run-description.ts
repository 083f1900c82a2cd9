import type { ApiClient } from "../client/api-client";
import { type EvaluationReport, readReport } from "../core/evaluation/report";
import { evaluationKind } from "../core/evaluation/shapes";
import { workersPerHost } from "../core/runs/resources";
import { isOpen } from "../core/runs/run-states";
import type { RunDetails } from "../core/runs/shapes";
import { findOutput } from "../core/runs/step";
import { trainingKind } from "../core/runs/training-task";
import { totalUsage } from "../core/runs/usage";
import type { MetricSummary } from "../core/tracking/metric-store";
import { containerIndexOf, containerOf } from "../platform/members";
import { attemptsSoFar } from "./attempts";
import { download } from "./download";

/** Reads the report of a run's evaluation; `undefined` if it was not evaluated. */
export async function reportOf(client: ApiClient, details: RunDetails): Promise<EvaluationReport | undefined> {
  const evaluation = findOutput(details, evaluationKind);
  return evaluation && readReport({ getContent: (sha256) => download(client, sha256) }, evaluation.report);
}

/** Returns the whole record of a run, the most important fields first. */
export function describeRun(details: RunDetails, metrics: readonly MetricSummary[], report?: EvaluationReport) {
  const { run, steps, workers, progress } = details;
  const perHost = workersPerHost(run.job.resources);
  const attempts = attemptsSoFar(details, Date.now());
  const training = findOutput(details, trainingKind);
  const evaluation = findOutput(details, evaluationKind);
  return {
    runId: run.runId,
    status: run.status,
    phase: run.phase,
    step: progress?.step ?? training?.steps,
    totalSteps: progress?.totalSteps ?? training?.steps,
    weightsSha256: training?.weightsSha256,
    earlyStopping: training?.earlyStopping && { epoch: training.epochs, ...training.earlyStopping },
    backend: training?.backend ?? progress?.backend,
    cause: run.cause,
    restoredFrom: run.restoredFrom,
    fineTunedFrom: run.fineTunedFrom,
    fineTune: training?.fineTune,
    otherNumerics: training?.otherNumerics,
    primaryMetric: run.primaryMetric,
    evaluation: evaluation?.metrics,
    decision: evaluation?.decision,
    slices: report?.slices,
    importance: report?.importance,
    workers: (progress?.workers ?? []).map((worker) => ({
      ...worker,
      ...batchRecord(workers, containerIndexOf(worker.workerIndex, perHost)),
      ...noticeOf(details, worker.memberId),
      state: isOpen(run.status) ? worker.state : "left",
    })),
    reused: steps
      .filter((record) => record.reusedFrom !== undefined)
      .map(({ step, reusedFrom }) => ({ step, reusedFrom })),
    attempts,
    usage: totalUsage(attempts),
    metrics,
    warnings: details.warnings,
    failure: run.failure,
    outcome: run.outcome,
    run,
    steps,
    progress,
  };
}

function noticeOf({ machines }: RunDetails, memberId: string): { readonly interruptionNoticeAt?: string } {
  const at = machines.find((machine) => machine.memberId === containerOf(memberId))?.interruptionNoticeAt;
  return at === undefined ? {} : { interruptionNoticeAt: at };
}

function batchRecord(workers: RunDetails["workers"], index: number) {
  const record = workers.find((worker) => worker.workerIndex === index);
  return record && { jobId: record.jobId, batchStatus: record.status, attempts: record.attempts };
}
