import { validationKind } from "../datasets/contract/report";
import { featuresKind } from "../features/shapes";
import { objectKeys } from "../object-keys";
import { sourceText } from "../runs/fine-tune";
import { workersOf } from "../runs/run";
import type { Run, RunDetails } from "../runs/shapes";
import { outputOf } from "../runs/step";
import { type TrainingOutput, type TrainingResult, type TrainingTask, trainingKind } from "../runs/training-task";

/** Maximum seconds between checkpoints, even if steps take long. */
const checkpointSeconds = 600;
/**
 * Minimum seconds between the checkpoints of a trial. Epochs of a small model take less time than their checkpoints. A
 * gang's workers have different clocks, so this holds for one worker.
 */
const trialCheckpointSeconds = 2;

/** Everything that determines the weights. Workers, market and retries are execution settings and excluded. */
export const trainingStep = {
  ...trainingKind,
  // Increase it with the versions of kernels and graphs. The tests of both engines pin the versions that belong to it.
  version: 3,
  inputs(run: Run, details: RunDetails): unknown {
    const { model, hyperparameters, seed, resources, earlyStopping } = run.job;
    return {
      features: outputOf(details, featuresKind).digest,
      model,
      hyperparameters,
      seed,
      microBatches: resources.microBatches,
      backend: resources.backend,
      gpu: resources.gpusPerWorker > 0,
      gpuClass: resources.gpu?.class,
      tf32: resources.tf32,
      // Natively, the graph takes the steps of an unsharded optimizer, with other bits (docs/adr/046-graphs.md).
      sharded: resources.shardOptimizer && resources.backend !== "wasm" ? true : undefined,
      threads: threadsOf(run),
      moduleSha256: run.code.moduleSha256,
      earlyStopping,
      fineTune: run.fineTunedFrom && {
        match: run.job.fineTune?.match,
        weightsSha256: run.fineTunedFrom.weightsSha256,
      },
      // The weights equal those of an undisturbed run only if nothing else differed, so the output is never reused for
      // one.
      restoredFrom: run.restoredFrom && {
        step: run.restoredFrom.step,
        weightsSha256: run.restoredFrom.weightsSha256,
        allowOtherNumerics: run.allowOtherNumerics,
      },
    };
  },
} as const;

/** Returns the trainers' input, which is the same for every attempt. */
export function trainingTaskOf(details: RunDetails): TrainingTask {
  const { run } = details;
  const { job } = run;
  const { positive, threshold } = job.evaluation;
  return {
    runId: run.runId,
    seed: job.seed,
    model: job.model,
    hyperparameters: job.hyperparameters,
    microBatches: job.resources.microBatches,
    workers: workersOf(run),
    minWorkers: Math.min(job.resources.minWorkers, workersOf(run)),
    pauseAt: run.pauseAt,
    ...(job.earlyStopping ? { earlyStopping: job.earlyStopping } : {}),
    shardOptimizer: job.resources.shardOptimizer,
    gpusPerWorker: job.resources.gpusPerWorker,
    ...(job.resources.tf32 === true ? { tf32: true } : {}),
    threads: threadsOf(run),
    backend: job.resources.backend,
    ...(run.restoredFrom ? { startStep: run.restoredFrom.step } : fineTuneOf(run)),
    ...(run.allowOtherNumerics ? { allowOtherNumerics: true } : {}),
    featureManifestKey: outputOf(details, featuresKind).featureManifestKey,
    profileKey: job.hyperparameters.classWeights === "balanced" ? profileKeyOf(details) : undefined,
    decision: positive === undefined && threshold === undefined ? undefined : { positive, threshold },
    checkpoint: {
      everySteps: job.checkpoint.everySteps,
      everySeconds: checkpointSeconds,
      keep: job.checkpoint.keep,
      ...(run.trial && workersOf(run) === 1 ? { minSeconds: trialCheckpointSeconds } : {}),
    },
  };
}

function profileKeyOf(details: RunDetails): string {
  return objectKeys.content(outputOf(details, validationKind).profile.sha256);
}

function fineTuneOf({ job, fineTunedFrom }: Run): Pick<TrainingTask, "fineTune"> {
  if (!job.fineTune || !fineTunedFrom) return {};
  const { match } = job.fineTune;
  return { fineTune: { match, from: sourceText(fineTunedFrom), parts: fineTunedFrom.parts.sha256 } };
}

/** Returns a training's output: its result without what differs between equal trainings. */
export function trainingOutputOf({
  runId: _runId,
  finishedAt: _finishedAt,
  warnings: _warnings,
  ...output
}: TrainingResult): TrainingOutput {
  return output;
}

export const trainingKeys = (runId: string, segment = 0) => ({
  task: objectKeys.trainingTask(runId, segment),
  pause: objectKeys.trainingPause(runId, segment),
  result: objectKeys.trainingResult(runId),
  failure: (jobId: string) => objectKeys.trainingFailure(runId, jobId),
});

/** Thread counts change how native kernels split sums, so a worker's follows the job file, never the machine. */
function threadsOf(run: Run): number {
  return run.job.resources.vcpusPerWorker;
}
