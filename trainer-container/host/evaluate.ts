import { createHash } from "node:crypto";
import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { stopwatch } from "../../adapters/host/stopwatch";
import {
  type EvaluationResult,
  type EvaluationTask,
  evaluateTask,
  evaluationResult,
  evaluationTask,
} from "../../core/evaluation/task";
import type { Logger } from "../../core/logging";
import { findJson, getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { type Clock, isoTime, type ObjectStore } from "../../core/ports";
import type { MachineRecord } from "../../core/runs/shapes";
import { type TrainingFailure, trainerExitCodes } from "../../core/runs/training-task";
import type { ContentReference } from "../../core/shapes";
import type { Engine, EngineOptions } from "../engine/engine";
import { loadPredictorHere } from "../tfjs/predictor";
import { classifyError } from "./failure";

export interface EvaluatorDependencies {
  readonly runId: string;
  readonly inputHash: string;
  readonly jobId: string;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly machine: Promise<MachineRecord | undefined>;
  readonly createEngine: (options: EngineOptions) => Promise<Engine>;
}

/** Computes a run's evaluation as a job of its own, to the process's exit code, without user code. */
export async function evaluateRun(dependencies: EvaluatorDependencies): Promise<number> {
  const { runId, inputHash, jobId, store, clock, logger } = dependencies;
  const key = objectKeys.evaluationResult(runId, inputHash);
  try {
    if (await findJson(store, key, evaluationResult)) {
      logger.log("info", "the evaluation is complete already");
      return trainerExitCodes.completed;
    }
    const result = await evaluate(
      dependencies,
      await getJson(store, objectKeys.evaluationTask(runId, inputHash), evaluationTask),
    );
    // The first result stays.
    await store.putNew(key, JSON.stringify(result), "application/json");
    logger.log("info", "evaluated", { metrics: result.output.metrics, engine: result.output.engine });
    return trainerExitCodes.completed;
  } catch (error) {
    const consequence = classifyError(error);
    logger.log("error", `the evaluation ended: ${consequence.message}`, { error });
    if (consequence.kind === "try-again") return trainerExitCodes.retry;
    const { code, message, retryable } = consequence;
    const failure: TrainingFailure = { runId, code, message, retryable, failedAt: isoTime(clock) };
    await store.put(
      objectKeys.evaluationFailure(runId, inputHash, jobId),
      JSON.stringify(failure, null, 2),
      "application/json",
    );
    return trainerExitCodes.failed;
  }
}

async function evaluate(
  { runId, store, logger, createEngine, machine }: EvaluatorDependencies,
  task: EvaluationTask,
): Promise<EvaluationResult> {
  const { backend, threads, gpusPerWorker, tf32 } = task.engine;
  const engine = await createEngine({
    preferred: backend,
    threads,
    ...(gpusPerWorker > 0 ? { gpu: 0, tf32 } : {}),
    onFallback: ({ message: reason }) =>
      logger.log("info", "no native TensorFlow: computing on WebAssembly", { reason }),
  });
  const { device } = engine.numerics();
  const files: ContentReference[] = [];
  const objects: ObjectStore = {
    ...store,
    // Jobs cannot write to the content store.
    async putContent(body, contentType) {
      const content = { sha256: createHash("sha256").update(body).digest("hex"), bytes: Buffer.byteLength(body) };
      await store.put(objectKeys.evaluationFile(runId, content.sha256), body, contentType);
      files.push(content);
      return content;
    },
  };
  const output = await evaluateTask(
    {
      objects,
      loadModel: loadPredictorHere,
      withRows: (manifest, work) => withDuckDb((session) => work(createShardSource(session, objects, manifest))),
      stopwatch: stopwatch(),
      engine: { backend: engine.backend, device, ran: "job" },
    },
    task,
  );
  const settled = await machine;
  return { runId, output, files, ...(settled ? { machine: settled } : {}) };
}
