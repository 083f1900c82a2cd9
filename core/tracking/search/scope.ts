import type { Experiment } from "../experiment";
import type { Experiments } from "../experiments";
import { ExperimentNotFoundError } from "../records/errors";

/**
 * Ids of the experiments that are named by id or by name; where digits are both, by id. None named: none, which a
 * search takes for all.
 *
 * @throws ExperimentNotFoundError
 */
export async function experimentIdsOf(
  experiments: Pick<Experiments, "find" | "findByName">,
  asked: readonly string[],
): Promise<readonly string[]> {
  return Promise.all([...new Set(asked)].map(async (text) => (await experimentOf(experiments, text)).experimentId));
}

/** Finds an experiment by its id or name; where digits are both, by id. @throws ExperimentNotFoundError */
export async function experimentOf(
  experiments: Pick<Experiments, "find" | "findByName">,
  text: string,
): Promise<Experiment> {
  const found =
    (/^\d{1,12}$/.test(text) ? await experiments.find(text) : undefined) ?? (await experiments.findByName(text));
  if (!found) throw new ExperimentNotFoundError({ name: text });
  return found;
}
