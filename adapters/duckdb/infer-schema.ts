import type { ColumnSchema } from "../../core/datasets/shapes";
import { InvalidInputError } from "../../core/errors";
import { castTo } from "./cast";
import { type DuckDbSession, quoteName } from "./session";
import { openSource, reading } from "./source";

/** A suggested column, with a remark if a person should check it. */
export interface InferredColumn extends ColumnSchema {
  readonly note?: string;
}

/** The types in the order of the attempts. The first type that fits all values is suggested. */
const candidates = ["bool", "int", "float", "timestamp", "string"] as const;
/** The maximum number of values of a one-hot (core/features). */
const maxCategories = 1_000;
/** The maximum number of values of an integer class. A column with more values is suggested as a quantity. */
const maxIntClasses = 20;

interface Counts {
  readonly rows: number;
  readonly present: number;
  readonly distinct: number;
  readonly words: number;
  /** The number of elements between commas, if every value is in brackets. */
  readonly elements?: number;
  readonly fitting: Readonly<Record<(typeof candidates)[number], number>>;
}

/**
 * Suggests a schema for a CSV, Parquet or JSON file. A type is suggested only if a push would accept every value.
 *
 * @param label names the column to predict
 * @throws InvalidInputError if the file cannot be read or has no such column
 */
export async function inferColumns(
  session: DuckDbSession,
  file: string,
  label: string,
): Promise<readonly InferredColumn[]> {
  const { types } = await openSource(session, file, []);
  const columns = [...types.keys()].map((name): ColumnSchema => ({ name, type: "string", role: "feature" }));
  if (!types.has(label)) {
    const rule = `must be a column of ${file}: ${[...types.keys()].slice(0, 30).join(", ")}`;
    throw new InvalidInputError("no schema can be suggested", [{ path: "--label", value: label, rule }]);
  }
  const source = await openSource(session, file, columns);
  const inferred: InferredColumn[] = [];
  for (const { name } of columns) {
    const counts = await reading(file, () => countsOf(session, source.table, name, source.types.get(name)!));
    inferred.push(name === label ? labelOf(name, counts) : featureOf(name, counts));
  }
  return inferred;
}

async function countsOf(session: DuckDbSession, table: string, name: string, sourceType: string): Promise<Counts> {
  const raw = quoteName(name);
  const text = `trim(CAST(${raw} AS VARCHAR))`;
  const fitting = candidates.map(
    (type) => `count(${castTo({ name, type, role: "feature" }, sourceType)}) AS "${type}"`,
  );
  const [row] = await session.rows(
    `SELECT count(*) AS "rows", count(${raw}) AS present, count(DISTINCT ${raw}) AS "distinct",
            count(*) FILTER (lower(${text}) IN ('true', 'false')) AS words,
            count(*) FILTER (starts_with(${text}, '[') AND ends_with(${text}, ']')) AS brackets,
            min(len(string_split(${text}, ','))) AS fewest, max(len(string_split(${text}, ','))) AS most,
            ${fitting.join(", ")} FROM ${table}`,
  );
  const number = (key: string): number => Number(row![key]);
  const isList = number("brackets") === number("present") && number("fewest") === number("most");
  return {
    rows: number("rows"),
    present: number("present"),
    distinct: number("distinct"),
    words: number("words"),
    ...(isList && number("present") > 0 ? { elements: number("most") } : {}),
    fitting: Object.fromEntries(candidates.map((type) => [type, number(type)])) as Counts["fitting"],
  };
}

function typeOf({ present, words, fitting }: Counts): (typeof candidates)[number] | undefined {
  // 0 and 1 could also be bool. They are suggested as numbers, and the user may change that.
  return candidates.find((type) => fitting[type] === present && (type !== "bool" || words === present));
}

function labelOf(name: string, counts: Counts): InferredColumn {
  const type = typeOf(counts) ?? "string";
  const missing =
    counts.present < counts.rows ? `missing in ${counts.rows - counts.present} rows, which a push refuses` : undefined;
  if (type === "int" && counts.distinct > maxIntClasses) {
    const note = `${counts.distinct} values: predicted as a number; with type int they are classes`;
    return { name, type: "float", role: "label", note: missing ?? note };
  }
  return { name, type, role: "label", ...(missing === undefined ? {} : { note: missing }) };
}

function featureOf(name: string, counts: Counts): InferredColumn {
  const { rows, present, distinct, elements } = counts;
  const ignored = (note: string): InferredColumn => ({ name, type: "string", role: "ignore", nullable: true, note });
  if (present === 0) return ignored("no value");
  const missing = present < rows ? { nullable: true } : {};
  if (elements !== undefined) {
    return {
      name,
      type: "tensor",
      shape: [elements],
      role: "feature",
      ...missing,
      note: "flat: give every dimension, such as [28, 28, 1]",
    };
  }
  const type = typeOf(counts);
  if (type === undefined) return ignored("its type is not supported for columns");
  if (type === "string" && distinct > maxCategories) return ignored(`${distinct} different texts`);
  if (type === "string" && distinct === rows && rows > 20) return ignored("every row has a different text, like an id");
  return { name, type, role: "feature", ...missing };
}
