import { type DatasetRepository, getDatasetVersion } from "../datasets/repository";
import { testPrefix } from "../evaluation/metric-goal";
import { createJson } from "../object-documents";
import { objectKeys } from "../object-keys";
import { isoTime } from "../ports";
import type { NextMove } from "../runs/attempts";
import { beginStep, findCached, finishStep, inputHashOf } from "../runs/step";
import { trainingKind, trainingTask } from "../runs/training-task";
import { metricsBehind, newPoints } from "../tracking/follow";
import type { MetricStore } from "../tracking/metric-store";
import { completeTraining } from "./complete-training";
import { attemptsOfSegment, launchNext } from "./launch";
import type { NextMoveDependencies } from "./next-move";
import { trainingKeys, trainingStep, trainingTaskOf } from "./training-step";

export interface BeginDependencies extends NextMoveDependencies {
  readonly metrics: CopyPorts;
  readonly datasets: DatasetRepository;
}

export type TrainingBegun =
  | { readonly reusedFrom: string }
  | { readonly attempt: number | undefined; readonly jobId: string | undefined }
  | { readonly move: NextMove["move"] };

/**
 * Starts a run's training in Batch and stores the task token for the process that sees its end. Answers immediately if
 * the output is known. If it is invoked again, because the state machine got no answer or missed heartbeats, it
 * continues the running training.
 */
export async function beginTraining(
  dependencies: BeginDependencies,
  runId: string,
  taskToken: string,
): Promise<TrainingBegun> {
  const { runs, cache, clock, objects, tokens } = dependencies;
  const details = await beginStep(dependencies, runId, "LaunchTraining");
  await runs.putTaskToken(runId, "LaunchTraining", taskToken);

  const inputHash = inputHashOf(trainingStep, details);
  // A run that pauses trains, because its checkpoint is needed: a study copies those of a population.
  const trains = details.run.noCache || details.run.pauseAt !== undefined;
  const cachedStep = trains ? undefined : await findCached(cache, trainingKind, inputHash);
  if (cachedStep && details.attempts.length === 0) {
    // Copied before the step's record, so that a run with completed training has all of its metrics. An invocation that ran
    // at the same time may have completed this run's own training.
    if (cachedStep.runId !== runId) await copyTrainingMetrics(dependencies.metrics, cachedStep.runId, runId);
    await finishStep(dependencies, runId, trainingStep, inputHash, cachedStep, isoTime(clock));
    await tokens.succeed(taskToken, { runId });
    return { reusedFrom: cachedStep.runId };
  }

  const { dataset, job, segment } = details.run;
  if (job.model.type === "container") {
    const { manifest } = await getDatasetVersion(dependencies.datasets, dataset.name, dataset.version);
    await objects.putNew(objectKeys.trainingDataset(runId), JSON.stringify(manifest), "application/json");
  }
  await createJson(objects, trainingKeys(runId, segment).task, trainingTask, trainingTaskOf(details));
  // The job may have ended before the token was stored.
  if (attemptsOfSegment(details).length > 0) return { move: await completeTraining(dependencies, runId) };
  return launchNext(dependencies, details);
}

export type CopyPorts = Pick<MetricStore, "summaries" | "readAfter" | "append">;

const machinePrefix = "system/";

/**
 * Copies the metrics of a training into a run that reuses it. Skips metrics of machines, which the run did not use, and of the test split, which the run's own
 * evaluation records. Idempotent: a repeated call continues each metric after the last step that was copied. Memory is bounded by one event of a stream.
 */
export async function copyTrainingMetrics(metrics: CopyPorts, fromRunId: string, toRunId: string): Promise<void> {
  const [source, copied] = await Promise.all([metrics.summaries(fromRunId), metrics.summaries(toRunId)]);
  const positions = new Map(copied.map(({ metric, lastStep }) => [metric, { step: lastStep, item: 0 }]));
  const missing = metricsBehind(source, positions).filter(
    (metric) => !metric.startsWith(machinePrefix) && !metric.startsWith(testPrefix),
  );
  for await (const parts of newPoints(metrics, fromRunId, missing, positions)) {
    const series = parts.map(({ metric, points }) => ({
      metric,
      steps: points.map(({ step }) => step),
      values: points.map(({ value }) => value),
      times: points.map(({ time }) => time),
    }));
    await metrics.append(toRunId, series);
  }
}
