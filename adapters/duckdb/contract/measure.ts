import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { DuckDBListValue, DuckDBStructValue, DuckDBValue } from "@duckdb/node-api";
import { inapplicability } from "../../../core/datasets/contract/applicability";
import { type ContractSample, type Measurement, samplesShown } from "../../../core/datasets/contract/report";
import type { DataContractRule } from "../../../core/datasets/contract/rules";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { messageOf } from "../errors";
import { type DuckDbSession, openDuckDb, quoteName, quoteText } from "../session";
import { aggregateOf, type CompiledRule, compileRule, foundName } from "./compile";

/** Memory of the session; larger data is spilled to disk. */
const memoryMb = 1_024;

/**
 * Runs `work` with a DuckDB that may read only these directories and its own, of which no query can change the
 * settings: a contract's expressions come from anyone in the team.
 */
export async function withGuardedDuckDb<Result>(
  directories: readonly string[],
  work: (session: DuckDbSession) => Promise<Result>,
): Promise<Result> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "ringmaster-contract-"));
  try {
    const session = await openDuckDb(directory, { memoryMb });
    try {
      const allowed = [...new Set([directory, ...directories])].map((one) => quoteText(path.resolve(one))).join(", ");
      await session.run(`SET allowed_directories = [${allowed}]`);
      await session.run("SET enable_external_access = false; SET lock_configuration = true");
      return await work(session);
    } finally {
      session.close();
    }
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

const shownLength = 80;

/** The columns of other datasets to which rules refer: a table expression and a column for the rule's place. */
export type ReferencedColumns = ReadonlyMap<number, { readonly table: string; readonly column: string }>;

interface Compiled {
  readonly index: number;
  readonly rule: CompiledRule;
  readonly aggregate: string;
}

/**
 * Measures the rules of a contract over a canonical table: one query for all rules, then one for samples of those that
 * rows break. Rules of kind `drift` are measured elsewhere.
 *
 * @param settled rules that need no query, by place
 * @returns measurements in the order of the rules
 */
export async function measureRules(
  session: DuckDbSession,
  input: {
    readonly table: string;
    readonly schema: readonly ColumnSchema[];
    readonly rowCount: number;
    readonly rules: readonly DataContractRule[];
    readonly references: ReferencedColumns;
    readonly settled?: ReadonlyMap<number, Measurement>;
  },
): Promise<readonly Measurement[]> {
  const { schema, rowCount, rules, references, settled = new Map<number, Measurement>() } = input;
  const measurements = rules.map((rule, index): Measurement => {
    const outcome = settled.get(index);
    if (outcome) return outcome;
    const problem = inapplicability(rule, schema);
    if (problem !== undefined) return { problem };
    if (rule.rule === "type") return { measured: schema.find(({ name }) => name === rule.column)!.type };
    return rule.rule === "rowCount" ? { measured: rowCount } : {};
  });
  const compiled = rules.flatMap((rule, index): readonly Compiled[] => {
    if (settled.has(index) || measurements[index]!.problem !== undefined) return [];
    const compiledRule = compileRule(rule, index, schema, rowCount);
    const aggregate = aggregateOf(compiledRule);
    return aggregate === undefined ? [] : [{ index, rule: compiledRule, aggregate }];
  });
  const table = joined(input.table, rules, references);
  for (const [index, value] of await aggregates(session, table, compiled)) {
    const one = compiled.find((each) => each.index === index)!;
    measurements[index] = value instanceof Error ? { problem: problemText(value) } : measurementOf(one.rule, value);
  }
  const violated = compiled.filter(({ index }) => (measurements[index]!.rows ?? 0) > 0);
  for (const [index, sample] of await samplesOf(session, table, violated)) {
    measurements[index] = { ...measurements[index]!, ...sample };
  }
  return measurements;
}

/** Adds a column for each reference: whether the row's value is among those of the other dataset. */
function joined(table: string, rules: readonly DataContractRule[], references: ReferencedColumns): string {
  if (references.size === 0) return table;
  const columns = [...references].map(([index, { table: other, column }]) => {
    const { column: name } = rules[index] as { readonly column: string };
    const value = quoteName(column);
    return `, ${quoteName(name)} IN (SELECT ${value} FROM ${other} WHERE ${value} IS NOT NULL) AS ${foundName(index)}`;
  });
  return `(SELECT *${columns.join("")} FROM ${table})`;
}

/**
 * Evaluates all aggregates with one query. If it fails, evaluates each with its own, so that a rule that cannot be
 * evaluated (a text compared with a number) does not hide the others.
 */
async function aggregates(
  session: DuckDbSession,
  table: string,
  compiled: readonly Compiled[],
): Promise<ReadonlyMap<number, DuckDBValue | Error>> {
  if (compiled.length === 0) return new Map();
  const select = (some: readonly Compiled[]) =>
    `SELECT ${some.map(({ index, aggregate }) => `${aggregate} AS "${index}"`).join(", ")} FROM ${table}`;
  try {
    const [row] = await session.rows(select(compiled));
    return new Map(compiled.map(({ index }) => [index, row![String(index)]!]));
  } catch (error) {
    if (compiled.length === 1) return new Map([[compiled[0]!.index, asEvaluationError(error)]]);
    const values = new Map<number, DuckDBValue | Error>();
    for (const one of compiled) {
      for (const [index, value] of await aggregates(session, table, [one])) values.set(index, value);
    }
    return values;
  }
}

/** Rethrows an error that is not about the expression: a full disk, a file that cannot be read. */
function asEvaluationError(error: unknown): Error {
  const message = messageOf(error);
  if (/^(Binder|Conversion|Catalog|Invalid Input|Out of Range|Parser|Not implemented) Error/i.test(message)) {
    return error instanceof Error ? error : new Error(message);
  }
  throw error;
}

function problemText(error: Error): string {
  return `it cannot be evaluated: ${messageOf(error).split("\n")[0]!.slice(0, 500)}`;
}

function measurementOf(rule: CompiledRule, value: DuckDBValue): Measurement {
  if (rule.kind === "rows" || rule.kind === "repeats") {
    return { rows: Number(value), columns: rule.columns };
  }
  if (value === null || value === undefined) return {};
  return { measured: typeof value === "string" ? value : Number(value) };
}

async function samplesOf(
  session: DuckDbSession,
  table: string,
  violated: readonly Compiled[],
): Promise<ReadonlyMap<number, Partial<Measurement>>> {
  const byRule = new Map<number, Partial<Measurement>>();
  const byRow = violated.flatMap(({ index, rule }) => (rule.kind === "rows" ? [{ index, rule }] : []));
  if (byRow.length > 0) {
    for (const { index } of byRow) byRule.set(index, { samples: [] });
    // Each part stops after the first rows that break its rule.
    const parts = byRow.map(
      ({ index, rule }) =>
        `(SELECT ${index} AS "rule#", " row", ${sampleSql(rule.columns)} AS "sample#" FROM ${numbered(table)} WHERE ${rule.broken} LIMIT ${samplesShown})`,
    );
    for (const row of await session.rows(parts.join(" UNION ALL "))) {
      const index = Number(row["rule#"]);
      const { columns } = byRow.find((one) => one.index === index)!.rule;
      const { samples = [] } = byRule.get(index)!;
      byRule.set(index, { samples: [...samples, sampleIn(row["sample#"]!, columns)] });
    }
  }
  for (const { index, rule } of violated) {
    if (rule.kind === "repeats") byRule.set(index, await repeatsOf(session, table, rule.columns));
  }
  return byRule;
}

/** Numbers rows from 1. No column is named " row", because names neither begin nor end with a space. */
export function numbered(table: string): string {
  return `(SELECT row_number() OVER () AS " row", * FROM ${table})`;
}

/** Columns of the sample are numbered, because a struct's names are not case-sensitive. */
export function sampleSql(columns: readonly string[]): string {
  const values = columns.map((name, at) => `, 'v${at}': left(CAST(${quoteName(name)} AS VARCHAR), ${shownLength})`);
  return `{'row': " row"${values.join("")}}`;
}

export function sampleIn(value: DuckDBValue, columns: readonly string[]): ContractSample {
  const { entries } = value as DuckDBStructValue;
  const values = columns.map((name, at) => [name, textOf(entries[`v${at}`])] as const);
  return { row: Number(entries["row"]), values: Object.fromEntries(values) };
}

const textOf = (value: DuckDBValue | undefined): string | null =>
  value === null || value === undefined ? null : String(value);

/** Counts rows that repeat an earlier one by their values, and returns the first of them. */
async function repeatsOf(
  session: DuckDbSession,
  table: string,
  columns: readonly string[],
): Promise<Partial<Measurement>> {
  const names = columns.map(quoteName).join(", ");
  const isThere = columns.map((name) => `${quoteName(name)} IS NOT NULL`).join(" AND ");
  const [row] = await session.rows(
    `SELECT sum(more) AS "rows#", arg_min(sample, second, ${samplesShown}) AS "samples#"
     FROM (SELECT count(*) - 1 AS more, min(" row", 2)[2] AS second, arg_min(${sampleSql(columns)}, " row", 2)[2] AS sample
           FROM ${numbered(table)} WHERE ${isThere} GROUP BY ${names}
           HAVING count(*) > 1)`,
  );
  const rows = Number(row!["rows#"] ?? 0);
  const { items } = (row!["samples#"] ?? { items: [] }) as Pick<DuckDBListValue, "items">;
  return { rows, samples: items.map((item) => sampleIn(item, columns)) };
}
