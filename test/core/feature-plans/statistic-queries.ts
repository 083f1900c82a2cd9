import type { Dialect } from "../../../core/feature-plans/dialects";
import type { NumberExpression } from "../../../core/feature-plans/expression";
import {
  addToCell,
  type Categories,
  coarseBits,
  countedCategory,
  emptySummary,
  maxCounted,
  maxDistinct,
  maxMagnitude,
  quantilesOf,
  type State,
  type Statistic,
  type TargetCell,
  tooManyCategories,
} from "../../../core/feature-plans/statistics";

export type ResultRow = Readonly<Record<string, unknown>>;

/** Runs a query; returns all rows of its result. Numbers are DOUBLE. */
export type Query = (sql: string) => Promise<readonly ResultRow[]>;

/**
 * Measures statistics on a table by aggregate queries. States of several tables, e.g. shards, are merged by
 * `mergeStates`.
 *
 * @param rows a table expression with the plan's canonical columns
 */
export async function measureTable(
  query: Query,
  dialect: Dialect,
  statistics: readonly Statistic[],
  rows: string,
): Promise<readonly State[]> {
  const summaries = statistics.filter((statistic) => statistic.kind === "summary");
  const [found = {}] = summaries.length === 0 ? [] : await query(summaryQuery(summaries, dialect, rows));
  const states: State[] = [];
  for (const statistic of statistics) {
    if (statistic.kind === "summary") states.push(summaryOf(found, summaries.indexOf(statistic)));
    else states.push(await measureGroups(query, dialect, statistic, rows));
  }
  return states;
}

/** Returns one query for all of them: one pass over the table. */
function summaryQuery(
  statistics: readonly Extract<Statistic, { readonly kind: "summary" }>[],
  dialect: Dialect,
  rows: string,
): string {
  const values = statistics.map(({ value }, i) => `${measurable(value, dialect)} AS x${i}`);
  const aggregates = statistics.flatMap((_, i) => [
    `CAST(count(x${i}) AS DOUBLE) AS n${i}`,
    `avg(x${i}) AS mean${i}`,
    `${dialect.variance(`x${i}`)} AS variance${i}`,
    `min(x${i}) AS min${i}`,
    `max(x${i}) AS max${i}`,
  ]);
  return `SELECT ${aggregates.join(", ")} FROM (SELECT ${values.join(", ")} FROM ${rows}) AS measured`;
}

function summaryOf(row: ResultRow, i: number): State {
  const [count, mean, variance] = [row[`n${i}`], row[`mean${i}`], row[`variance${i}`]] as number[];
  if (count === undefined || count === 0) return emptySummary;
  const [minimum, maximum] = [row[`min${i}`], row[`max${i}`]] as [number, number];
  return { kind: "summary", count, mean: mean!, squares: variance! * count, minimum, maximum };
}

async function measureGroups(
  query: Query,
  dialect: Dialect,
  statistic: Exclude<Statistic, { readonly kind: "summary" }>,
  rows: string,
): Promise<State> {
  switch (statistic.kind) {
    case "quantiles": {
      const value = measurable(statistic.value, dialect);
      const found = await query(countQuery(value, rows, maxDistinct + 1));
      if (found.length <= maxDistinct) return quantilesOf(numberCounts(found));
      const unit = `power(2E0, floor(log2(abs(CASE WHEN x <> 0E0 THEN x END))) - ${coarseBits - 1})`;
      const rounded = `coalesce(floor(x / ${unit} + 0.5E0) * ${unit}, x)`;
      return quantilesOf(
        numberCounts(await query(countQuery(rounded, `(SELECT ${value} AS x FROM ${rows}) AS measured`))),
        true,
      );
    }
    case "categories":
      return {
        kind: "categories",
        counts: textCounts(await query(countQuery(statistic.value.sql(dialect), rows, maxCounted + 1)), statistic.step),
      };
    case "targets": {
      const { value, target, fold } = statistic;
      const inner = `SELECT ${value.sql(dialect)} AS x, ${fold.sql(dialect)} AS fold, ${measurable(target, dialect)} AS target FROM ${rows}`;
      const found = await query(
        `SELECT x, fold, CAST(count(target) AS DOUBLE) AS n, sum(target) AS total FROM (${inner}) AS measured ` +
          "WHERE target IS NOT NULL GROUP BY x, fold",
      );
      const cells = new Map<string | null, Map<number, TargetCell>>();
      for (const { x, fold: own, n, total } of found as unknown as readonly Cell[]) {
        addToCell(cells, countedCategory(x), own, { count: n, sum: total });
      }
      return { kind: "targets", cells };
    }
  }
}

interface Cell {
  readonly x: string | null;
  readonly fold: number;
  readonly n: number;
  readonly total: number;
}

function countQuery(value: string, rows: string, limit?: number): string {
  const counted = `SELECT value, CAST(count(*) AS DOUBLE) AS n FROM (SELECT ${value} AS value FROM ${rows}) AS counted WHERE value IS NOT NULL GROUP BY value`;
  return limit === undefined ? counted : `${counted} LIMIT ${limit}`;
}

function measurable(value: NumberExpression, dialect: Dialect): string {
  const x = value.sql(dialect);
  return `CASE WHEN abs(${x}) <= ${dialect.number(maxMagnitude)} THEN ${x} END`;
}

function numberCounts(found: readonly ResultRow[]): ReadonlyMap<number, number> {
  return new Map(found.map(({ value, n }) => [value as number, n as number]));
}

function textCounts(found: readonly ResultRow[], step: string): Categories["counts"] {
  if (found.length > maxCounted) throw tooManyCategories(step, found.length, maxCounted, false);
  return new Map(
    (found as readonly { value: string; n: number }[])
      .filter(({ value }) => countedCategory(value) !== null)
      .map(({ value, n }) => [value, n]),
  );
}
