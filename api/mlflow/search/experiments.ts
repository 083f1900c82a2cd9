import { entityGrammar, entityOrder, parseEntityFilter, parseEntityOrder } from "./entities";

/** An experiment as MLflow's `experiments/search` reads it. */
export interface SearchedExperiment {
  readonly experimentId: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly creationTime: number;
  readonly lastUpdateTime: number;
  readonly tags: Readonly<Record<string, string>>;
}

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
  name: ({ name }: SearchedExperiment) => name,
  experiment_id: ({ experimentId }: SearchedExperiment) => experimentId,
  creation_time: ({ creationTime }: SearchedExperiment) => creationTime,
  last_update_time: ({ lastUpdateTime }: SearchedExperiment) => lastUpdateTime,
};

/** @throws SearchSyntaxError */
export function parseExperimentFilter(filter: string): (experiment: SearchedExperiment) => boolean {
  return parseEntityFilter(grammar, filter, attributes);
}

/** Parses an order; without one, the newest come first. @throws SearchSyntaxError */
export function parseExperimentOrder(
  texts: readonly string[],
): (a: SearchedExperiment, b: SearchedExperiment) => number {
  const terms = parseEntityOrder(grammar, texts.length > 0 ? texts : ["creation_time DESC", "experiment_id ASC"]);
  const byNumber = { ...attributes, experiment_id: ({ experimentId }: SearchedExperiment) => Number(experimentId) };
  return entityOrder(terms, [{ field: "experiment_id", ascending: false }], byNumber);
}
