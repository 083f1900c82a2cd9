import type { Experiments } from "../experiments";
import { ExperimentNotFoundError } from "../records/errors";
import type { Experiment } from "../shapes";

/**
 * Returns the ids of experiments that are given by id or by name. Digits that are both an id and a name are the id. An
 * empty list stays empty, which a search treats as all experiments.
 *
 * @throws ExperimentNotFoundError
 */
export async function experimentIdsOf(
  experiments: Pick<Experiments, "find" | "findByName">,
  requested: readonly string[],
): Promise<readonly string[]> {
  return Promise.all([...new Set(requested)].map(async (text) => (await experimentOf(experiments, text)).experimentId));
}

/**
 * Finds an experiment by its id or name. Digits that are both are the id.
 *
 * @throws ExperimentNotFoundError
 */
export async function experimentOf(
  experiments: Pick<Experiments, "find" | "findByName">,
  text: string,
): Promise<Experiment> {
  const found =
    (/^\d{1,12}$/.test(text) ? await experiments.find(text) : undefined) ?? (await experiments.findByName(text));
  if (!found) throw new ExperimentNotFoundError({ name: text });
  return found;
}
