import type { Experiment } from "../../../core/tracking/experiment";
import { parseExperimentFilter, parseExperimentOrder } from "../search/experiments";
import { checkMaxResults, pageOf } from "./paging";

export interface ExperimentQuery {
  readonly filter: string;
  readonly orderBy: readonly string[];
  readonly view: "ACTIVE_ONLY" | "DELETED_ONLY" | "ALL";
  readonly limit: number;
  readonly pageToken?: string;
}

/** A team has few: all are looked through. @throws SearchSyntaxError, MlflowError */
export function searchExperiments(all: readonly Experiment[], query: ExperimentQuery) {
  checkMaxResults(query.limit);
  const fulfils = parseExperimentFilter(query.filter);
  const order = parseExperimentOrder(query.orderBy);
  const found = all
    .filter(({ lifecycle }) => query.view === "ALL" || (lifecycle === "active") === (query.view === "ACTIVE_ONLY"))
    .map((experiment) => ({
      experiment,
      searched: {
        ...experiment,
        creationTime: Date.parse(experiment.createdAt),
        lastUpdateTime: Date.parse(experiment.updatedAt),
      },
    }))
    .filter(({ searched }) => fulfils(searched))
    .sort((a, b) => order(a.searched, b.searched));
  const { items, nextToken } = pageOf(found, query.limit, query.pageToken);
  return { experiments: items.map(({ experiment }) => experiment), nextToken };
}
