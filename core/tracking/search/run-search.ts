import { eachLimited, inParts } from "../../each-limited";
import { InvalidInputError } from "../../errors";
import type { Clock } from "../../ports";
import type { Experiments } from "../experiments";
import type { MetricStore } from "../metric-store";
import { changesKeptMs, clockSkewMs, type RunChanges, type RunRecords } from "../run-records";
import type { RunRecord } from "../shapes";
import { compileFilter, type SearchContext } from "./evaluate";
import { type Expression, fieldsOf, type OrderTerm } from "./expression";
import { nativeLanguage } from "./native";
import { ambiguityCheck, fieldReader, orderComparator, pageTokenOf, type Ranked, ranker, readPageToken } from "./order";
import type { QueryLanguage, RunSearch, SearchPage, SearchQuery } from "./query";
import { RowMaker, type SearchRow, searchedRun } from "./row";

interface PlannedQuery {
  readonly query: SearchQuery;
  readonly language: QueryLanguage;
  readonly filter: Expression | undefined;
  readonly order: readonly OrderTerm[];
}

/**
 * Parses a query.
 * @param now milliseconds since the epoch
 * @throws SearchSyntaxError
 */
export function planQuery(query: SearchQuery, now: number): PlannedQuery {
  const { language = nativeLanguage } = query;
  return {
    query,
    language,
    filter: language.parseFilter(query.filter, now),
    order: language.parseOrder(query.orderBy),
  };
}

interface Selection {
  readonly rows: readonly SearchRow[];
  readonly total: number;
  readonly nextToken?: string;
}

/** The first `limit` matching rows after the token, in one pass. @throws AmbiguousNameError, PageTokenError */
export function selectPage(plan: PlannedQuery, rows: Iterable<SearchRow>, context: SearchContext): Selection {
  const { query, language, filter, order } = plan;
  const compare = orderComparator(order);
  const after = query.pageToken === undefined ? undefined : readPageToken(query, order.length, query.pageToken);
  const check = ambiguityCheck(filter, order);
  const meets = filter === undefined ? undefined : compileFilter(filter, (field) => fieldReader(field, context));
  const rank = ranker(order, context, language.ordersNumbersInText);
  // One more row than the page holds shows whether there is another page.
  let total = 0;
  const first = new TopK<Ranked>(query.limit + 1, compare);
  for (const row of rows) {
    if (query.view !== "all" && row.record.lifecycle !== query.view) continue;
    check?.(row);
    if (meets && !meets(row)) continue;
    total += 1;
    const ranked = rank(row);
    if (after && compare(ranked, after) <= 0) continue;
    first.add(ranked);
  }
  const matches = first.sorted();
  const page = matches.slice(0, query.limit);
  return {
    rows: page.map(({ row }) => row),
    total,
    ...(matches.length > page.length ? { nextToken: pageTokenOf(query, page.at(-1)!) } : {}),
  };
}

/** Keeps the first `count` items of an order. It sorts when there are as many others, so an item costs O(log count). */
export class TopK<T> {
  private items: T[] = [];
  constructor(
    private readonly count: number,
    private readonly compare: (a: T, b: T) => number,
  ) {}

  add(item: T): void {
    if (this.items.push(item) >= 2 * this.count + 100) this.items = this.sorted();
  }

  sorted(): T[] {
    return this.items.sort(this.compare).slice(0, this.count);
  }
}

export interface SearchSources extends IndexSources {
  readonly experiments: Pick<Experiments, "list">;
}

interface RunSearches {
  of(team: string, sources: SearchSources): RunSearch;
}

/** Maximum number of runs of all teams in memory. A run with ten params and five metrics takes 1 KB. */
const maxRuns = 100_000;
const maxIndexes = 1_000;
/** Number of experiments that are refreshed in parallel. */
const experimentsAtOnce = 16;

/** A process's search indexes, by team and experiment. Evicts the least recently used beyond `runLimit` runs. */
export function createRunSearches(runLimit = maxRuns): RunSearches {
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
      if (indexes.size <= 1 || (runs <= runLimit && indexes.size <= maxIndexes)) return;
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
  return { runs: rows.map(searchedRun), total, nextToken };
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

interface IndexSources {
  readonly records: Pick<RunRecords, "findMany" | "list">;
  readonly changes: Pick<RunChanges, "since">;
  readonly metrics: Pick<MetricStore, "summariesOf">;
  readonly clock: Clock;
}

/** Maximum delay of a list of records (`RunRecords.list`). */
const listLagMs = 60_000;
/** Runs per read: a `BatchGetItem` takes 100 keys. */
const batchSize = 100;
const batchesAtOnce = 8;

/**
 * All runs of an experiment, in memory. They are loaded once. Before each search, runs that were marked as changed
 * since the last refresh are read again, strongly consistently. The look-back starts `clockSkewMs` before the last
 * refresh, so that marks of clocks that differ, and changes after their second's mark was read, are found by the next
 * refresh.
 */
class ExperimentIndex {
  private readonly rows = new Map<string, SearchRow>();
  private readonly maker = new RowMaker();
  /** The local time at which the last refresh started. */
  private lookedAt: number | undefined;
  private running: Promise<void> | undefined;
  private waiting: Promise<void> | undefined;

  constructor(
    private readonly experimentId: string,
    private readonly sources: IndexSources,
  ) {}

  get size(): number {
    return this.rows.size;
  }

  all(): Iterable<SearchRow> {
    return this.rows.values();
  }

  /**
   * Resolves once the index has every change that was acknowledged before the call. A running refresh may have read
   * before that, so callers wait together for the next one.
   */
  refresh(): Promise<void> {
    if (this.waiting) return this.waiting;
    if (this.running) {
      this.waiting = this.running
        .catch(() => undefined)
        .then(() => {
          this.waiting = undefined;
          return this.start();
        });
      return this.waiting;
    }
    return this.start();
  }

  private start(): Promise<void> {
    const running = this.look().finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }

  private async look(): Promise<void> {
    const { clock, changes } = this.sources;
    const now = clock.now();
    const last = this.lookedAt;
    // Marks expire, and a clock may have been set.
    const isLoaded = last !== undefined && Math.abs(now - last) < changesKeptMs / 2;
    if (!isLoaded) await this.load();
    const since = isLoaded ? Math.min(now, last) : now - listLagMs;
    await this.reload(await changes.since(this.experimentId, since - clockSkewMs));
    this.lookedAt = now;
  }

  private async load(): Promise<void> {
    const listed = new Set<string>();
    for await (const page of this.sources.records.list(this.experimentId)) {
      for (const { runId } of page) listed.add(runId);
      await eachLimited(inParts(page, batchSize), batchesAtOnce, async (records) => {
        const summaries = await this.sources.metrics.summariesOf(records.map(({ runId }) => runId));
        for (const record of records) this.put(record, summaries.get(record.runId) ?? []);
      });
    }
    for (const runId of this.rows.keys()) if (!listed.has(runId)) this.rows.delete(runId);
  }

  private async reload(runIds: readonly string[]): Promise<void> {
    const { records, metrics } = this.sources;
    await eachLimited(inParts(runIds, batchSize), batchesAtOnce, async (ids) => {
      const [rows, summaries] = await Promise.all([records.findMany(ids), metrics.summariesOf(ids)]);
      const byId = new Map(rows.map((record) => [record.runId, record]));
      for (const runId of ids) {
        const record = byId.get(runId);
        if (record?.experimentId === this.experimentId) this.put(record, summaries.get(runId) ?? []);
        else this.rows.delete(runId);
      }
    });
  }

  private put(record: RunRecord, summaries: Parameters<RowMaker["make"]>[1]): void {
    this.rows.set(record.runId, this.maker.make(record, summaries));
  }
}
