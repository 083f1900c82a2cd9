import { getDatasetVersion } from "../../core/datasets/repository";
import { digestOf } from "../../core/digest";
import { conflict } from "../../core/errors";
import type { ObjectStore } from "../../core/ports";
import { runNotFound } from "../../core/runs/errors";
import type { Run } from "../../core/runs/shapes";
import { findOutput } from "../../core/runs/step";
import { trainingKind } from "../../core/runs/training-task";
import type { MetricPoint, MetricStore, SeriesPosition } from "../../core/tracking/metric-store";
import { readCheckpoints } from "../../core/training/checkpoint/manifest";
import { findSubmitted, type SubmitDependencies, submitRun } from "../../core/training/submit";
import type { TrainingFacts } from "./compare";
import type { Agreement, FirstDifference } from "./shapes";

/** A metric that has a point for every step, computed from the weights before it. */
const walked = "train/loss";

interface WalkDependencies {
  readonly metrics: Pick<MetricStore, "readAfter">;
  readonly objects: ObjectStore;
}

/** Compares the training loss point by point, and the checkpoints that both still have, until they diverge. */
export function walkOf({ metrics, objects }: WalkDependencies) {
  return async (original: TrainingFacts, reproduction: TrainingFacts): Promise<Agreement> => {
    const [left, right] = [original.trained!.by, reproduction.trained!.by];
    const [loss, checkpoints] = await Promise.all([
      walkMetric(metrics, left, right),
      compareCheckpoints(objects, left, right),
    ]);
    const divergences = [loss.first, checkpoints.first].filter((each) => each !== undefined);
    const first = divergences.sort((a, b) => a.step - b.step)[0];
    return { steps: loss.steps, checkpoints: checkpoints.count, first };
  };
}

/** Compares page by page, so that only a page of each run is in memory. */
async function walkMetric(
  metrics: WalkDependencies["metrics"],
  left: string,
  right: string,
): Promise<{ readonly steps: number; readonly first?: FirstDifference }> {
  const [ours, theirs] = [pointsOf(metrics, left), pointsOf(metrics, right)];
  let [a, b] = await Promise.all([ours.next(), theirs.next()]);
  let steps = 0;
  while (!a.done && !b.done) {
    if (a.value.step !== b.value.step) {
      // A step that only one run has cannot be compared.
      if (a.value.step < b.value.step) a = await ours.next();
      else b = await theirs.next();
      continue;
    }
    steps += 1;
    const { step, value } = a.value;
    if (!Object.is(value, b.value.value)) {
      const values = { original: String(value), reproduction: String(b.value.value) };
      return { steps, first: { by: "metric", step, metric: walked, ...values } };
    }
    [a, b] = await Promise.all([ours.next(), theirs.next()]);
  }
  return { steps };
}

async function* pointsOf(metrics: WalkDependencies["metrics"], runId: string): AsyncGenerator<MetricPoint, void> {
  let position: SeriesPosition = { step: -1, item: 0 };
  for (;;) {
    const page = await metrics.readAfter(runId, walked, position);
    yield* page.points;
    if (!page.more) return;
    position = page.position;
  }
}

async function compareCheckpoints(
  objects: ObjectStore,
  left: string,
  right: string,
): Promise<{ readonly count: number; readonly first?: FirstDifference }> {
  const [ours, theirs] = await Promise.all([readCheckpoints(objects, left), readCheckpoints(objects, right)]);
  const other = new Map(theirs.checkpoints.map((manifest) => [manifest.finishedSteps, manifest.weightsSha256]));
  const common = ours.checkpoints.filter(({ finishedSteps }) => other.has(finishedSteps));
  const differing = common.find(({ finishedSteps, weightsSha256 }) => other.get(finishedSteps) !== weightsSha256);
  if (!differing) return { count: common.length };
  const { finishedSteps: step, weightsSha256 } = differing;
  return {
    count: common.length,
    first: { by: "checkpoint", step, original: weightsSha256, reproduction: other.get(step)! },
  };
}

const notTrained = (runId: string) =>
  conflict(
    "RUN_NOT_TRAINED",
    `run ${runId} has not finished its training, so there are no weights to reproduce; wait for it, or submit its job again`,
    { runId },
  );

/** Thrown when the run is no reproduction and the request names no other run. */
export const nothingToCompare = (runId: string) =>
  conflict(
    "NOT_A_REPRODUCTION",
    `run ${runId} reproduces no other run; name the run to compare it with by \`of\` (\`--of\`), or reproduce it first`,
    { runId },
  );

interface ReproduceRequest {
  readonly runId: string;
  readonly team: string;
  readonly actor: string;
  readonly idempotencyKey?: string;
}

/**
 * Repeats a run from its record, from the first step, without the cache. It ends after its evaluation and registers
 * nothing. @throws RUN_NOT_FOUND, RUN_NOT_TRAINED, IDEMPOTENCY_CONFLICT
 */
export async function reproduceRun(dependencies: SubmitDependencies, request: ReproduceRequest): Promise<Run> {
  const { runs, datasets } = dependencies;
  const { runId, team, actor, idempotencyKey } = request;
  const requestDigest = digestOf({ reproduce: runId });
  const submitted = await findSubmitted(dependencies, { team, idempotencyKey, requestDigest });
  if (submitted) return submitted;

  const details = await runs.findDetails(runId);
  if (!details) throw runNotFound(runId, "training");
  if (!findOutput(details, trainingKind)) throw notTrained(runId);
  const { job, dataset, code, environment, fineTunedFrom } = details.run;
  return submitRun(dependencies, {
    job: { ...job, dataset: `${dataset.name}@${dataset.version}` },
    dataset: await getDatasetVersion(datasets, dataset.name, dataset.version),
    code,
    environment,
    noCache: true,
    team,
    actor,
    idempotencyKey,
    requestDigest,
    reproducedFrom: runId,
    fineTunedFrom,
  });
}
