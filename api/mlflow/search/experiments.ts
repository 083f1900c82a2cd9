import type { Experiment } from "../../../core/tracking/shapes";
import { entityGrammar, entityOrder, parseEntityFilter, parseEntityOrder } from "./entities";

/** The part of an experiment that MLflow's `experiments/search` reads. */
type Searched = Pick<Experiment, "experimentId" | "name" | "createdAt" | "updatedAt" | "tags">;

const grammar = entityGrammar(
  {
    name: { type: "text" },
    experiment_id: { type: "id", list: true },
    creation_time: { type: "integer" },
    last_update_time: { type: "integer" },
  },
  true,
);

const attributes = {
  name: ({ name }: Searched) => name,
  experiment_id: ({ experimentId }: Searched) => experimentId,
  creation_time: ({ createdAt }: Searched) => Date.parse(createdAt),
  last_update_time: ({ updatedAt }: Searched) => Date.parse(updatedAt),
};

/** @throws SearchSyntaxError */
export function parseExperimentFilter(filter: string): (experiment: Searched) => boolean {
  return parseEntityFilter(grammar, filter, attributes);
}

/**
 * Parses an order; without one, the newest come first.
 *
 * @throws SearchSyntaxError
 */
export function parseExperimentOrder(texts: readonly string[]): (a: Searched, b: Searched) => number {
  const terms = parseEntityOrder(grammar, texts.length > 0 ? texts : ["creation_time DESC", "experiment_id ASC"]);
  const byNumber = { ...attributes, experiment_id: ({ experimentId }: Searched) => Number(experimentId) };
  return entityOrder(terms, [{ field: "experiment_id", ascending: false }], byNumber);
}
