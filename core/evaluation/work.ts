import type { FeatureManifest } from "../features/shapes";
import { getJson } from "../object-documents";
import type { ObjectStore } from "../ports";
import type { CountOperations, EvaluationTask } from "./task";

/**
 * Cost of a row without its model, as multiply-adds: decoding, metrics, slices, intervals. It also bounds the rows, and
 * so the memory, of an evaluation in a function.
 */
const operationsPerRow = 100_000;

/** Size of weights that a function has no memory for, next to its rows. */
const maxWeightBytes = 2 ** 29;

/**
 * Estimates the multiply-adds of an evaluation: every row that the model or the champion predicts. The splits' rows are
 * those of the same dataset version, so they are the champion's rows too. Infinite for a model that is too large to load.
 */
export async function evaluationOperations(
  objects: Pick<ObjectStore, "getContent" | "get">,
  { featureManifestKey, model, opponent, settings }: EvaluationTask,
  count: CountOperations,
): Promise<number> {
  const models = [model, ...(opponent ? [opponent.champion.artifact] : [])];
  if (models.some(({ weights }) => weights.bytes > maxWeightBytes)) return Number.POSITIVE_INFINITY;
  const { splits } = await getJson<FeatureManifest>(objects, featureManifestKey);
  const ofModel = async ({ sha256 }: { readonly sha256: string }) =>
    operationsPerRow + (await count(new TextDecoder().decode(await objects.getContent(sha256))));
  const choosesThreshold = settings.threshold !== undefined && typeof settings.threshold !== "number";
  const predicted = splits.test.rows + (choosesThreshold ? splits.validation.rows : 0);
  const own = predicted * (await ofModel(model.topology));
  return opponent ? own + splits.test.rows * (await ofModel(opponent.champion.artifact.topology)) : own;
}
