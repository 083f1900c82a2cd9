import { eachLimited } from "../../each-limited";
import { InvalidInputError } from "../../errors";
import type { Experiments } from "../experiments";
import { ExperimentIndex, type IndexSources } from "./experiment-index";
import { fieldsOf } from "./expression";
import type { RunSearch, SearchPage, SearchQuery } from "./query";
import { searchedRun } from "./row";
import { type PlannedQuery, planQuery, selectPage } from "./select";

export interface SearchSources extends IndexSources {
  readonly experiments: Pick<Experiments, "list">;
}

export interface RunSearches {
  /** Returns a team's search. The process keeps the indexes between calls. */
  of(team: string, sources: SearchSources): RunSearch;
}

/** Maximum number of runs of all teams in memory. A run with ten params and five metrics takes 1 KB. */
const maxRuns = 100_000;
const maxIndexes = 1_000;
/** Number of experiments that are refreshed in parallel. */
const experimentsAtOnce = 16;

/**
 * Creates the search indexes of a process, by team and experiment. Evicts the least recently used if there are too many
 * runs.
 */
export function createRunSearches(most = maxRuns): RunSearches {
  /** Ordered by last use. */
  const indexes = new Map<string, ExperimentIndex>();

  function indexOf(team: string, experimentId: string, sources: IndexSources): ExperimentIndex {
    const key = `${team}/${experimentId}`;
    const index = indexes.get(key) ?? new ExperimentIndex(experimentId, sources);
    indexes.delete(key);
    indexes.set(key, index);
    return index;
  }

  function evict(): void {
    let runs = 0;
    for (const index of indexes.values()) runs += index.size;
    for (const [key, index] of indexes) {
      if (indexes.size <= 1 || (runs <= most && indexes.size <= maxIndexes)) return;
      indexes.delete(key);
      runs -= index.size;
    }
  }

  return {
    of: (team, sources) => ({
      async search(query) {
        checkLimit(query);
        const plan = planQuery(query, sources.clock.now());
        const { experimentIds, experimentNames } = await scopeOf(plan, sources);
        const looked = experimentIds.map((id) => indexOf(team, id, sources));
        await eachLimited(looked, experimentsAtOnce, (index) => index.refresh());
        const page = selectPage(plan, rowsOf(looked), { experimentNames });
        evict();
        return pageOf(page);
      },
    }),
  };
}

function pageOf({ rows, total, nextToken }: ReturnType<typeof selectPage>): SearchPage {
  return { runs: rows.map(searchedRun), total, ...(nextToken === undefined ? {} : { nextToken }) };
}

function* rowsOf(indexes: readonly ExperimentIndex[]) {
  for (const index of indexes) yield* index.all();
}

async function scopeOf(
  { query, filter, order }: PlannedQuery,
  sources: SearchSources,
): Promise<{ readonly experimentIds: readonly string[]; readonly experimentNames: ReadonlyMap<string, string> }> {
  const all = query.experimentIds.length === 0;
  const fields = [...(filter === undefined ? [] : fieldsOf(filter)), ...order.map(({ field }) => field)];
  const byName = fields.some(({ kind, name }) => kind === "attribute" && name === "experiment");
  const experiments = all || byName ? await sources.experiments.list() : [];
  return {
    experimentIds: all ? experiments.map(({ experimentId }) => experimentId) : [...new Set(query.experimentIds)],
    experimentNames: new Map(experiments.map(({ experimentId, name }) => [experimentId, name])),
  };
}

function checkLimit({ limit }: SearchQuery): void {
  if (Number.isInteger(limit) && limit >= 1) return;
  throw new InvalidInputError("the search is not valid", [
    { path: "limit", value: limit, rule: "must be a whole number of at least 1" },
  ]);
}
