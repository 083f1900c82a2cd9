import type { ObjectStore } from "../../core/ports";
import type { MetricPoint, MetricStore, SeriesPosition } from "../../core/tracking/metric-store";
import { readCheckpoints } from "../../core/training/checkpoint/manifest";
import type { TrainingFacts } from "./compare";
import type { Agreement, FirstDifference } from "./shapes";

/** A metric that has a point for every step, computed from the weights before it. */
const walked = "train/loss";

export interface WalkDependencies {
  readonly metrics: Pick<MetricStore, "readAfter">;
  readonly objects: ObjectStore;
}

/**
 * Compares two trainings until they diverge: the training loss point by point, and the checkpoints that both still
 * have.
 */
export function walkOf({ metrics, objects }: WalkDependencies) {
  return async (original: TrainingFacts, reproduction: TrainingFacts): Promise<Agreement> => {
    const [left, right] = [original.trained!.by, reproduction.trained!.by];
    const [loss, checkpoints] = await Promise.all([
      walkMetric(metrics, left, right),
      compareCheckpoints(objects, left, right),
    ]);
    const found = [loss.first, checkpoints.first].filter((each) => each !== undefined);
    const first = found.sort((a, b) => a.step - b.step)[0];
    return { steps: loss.steps, checkpoints: checkpoints.count, ...(first ? { first } : {}) };
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
