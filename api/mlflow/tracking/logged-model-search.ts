import type { LoggedModel } from "../../../core/tracking/logged-model";
import {
  type DatasetFilter,
  type LoggedModelOrder,
  parseLoggedModelFilter,
  parseLoggedModelOrder,
  type SearchedLoggedModel,
} from "../search/logged-models";

/** As MLflow's database has them, where a filter compares with a text: none of them is one. */
const statusNumber = { unspecified: 0, pending: 1, ready: 2, failed: 3 } as const;

/** Those that are not deleted. @throws SearchSyntaxError */
export function searchLoggedModels(
  models: readonly LoggedModel[],
  query: {
    readonly filter: string;
    readonly datasets: readonly DatasetFilter[];
    readonly orderBy: readonly LoggedModelOrder[];
  },
): readonly LoggedModel[] {
  const fulfils = parseLoggedModelFilter(query.filter, query.datasets);
  const order = parseLoggedModelOrder(query.orderBy);
  return models
    .filter(({ lifecycle }) => lifecycle === "active")
    .map((model) => ({ model, searched: searchedOf(model) }))
    .filter(({ searched }) => fulfils(searched))
    .sort((a, b) => order(a.searched, b.searched))
    .map(({ model }) => model);
}

function searchedOf({ createdAt, updatedAt, metrics, status, ...model }: LoggedModel): SearchedLoggedModel {
  return {
    ...model,
    status: statusNumber[status],
    creationTimestamp: createdAt,
    lastUpdatedTimestamp: updatedAt,
    metrics: metrics.map(({ key, ...metric }) => ({ ...metric, name: key })),
  };
}
