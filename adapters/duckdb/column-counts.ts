import { severalWords } from "../../core/datasets/profile";
import { maxDimensions } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { castTo, rawValue } from "./cast";
import { anyNumber, type DateFormats, dateFormatsOf, fittingNumberFormats, type NumberFormat } from "./number-formats";
import { type DuckDbSession, quoteName, quoteText } from "./session";

/** The values of a column, all of which could be read as numbers. */
interface NumberTexts {
  readonly table: string;
  readonly rows: string;
  /** SQL for the text of a value, and for the whole number that it is. */
  readonly text: string;
  readonly number: string;
  readonly name: string;
}

const patterns = {
  padded: "[+-]?0[0-9].*",
  grouped: ".*_.*",
  plus: "[+].*",
  telephone: "[+][0-9]{7,}",
  minus: "-.*",
  /** Without a sign or a point, which programs write: 1e5. */
  exponent: "[0-9]+[eE][0-9]+",
  point: ".*([.]|[eE][+-]).*",
  /** One of several decimals that ends with a zero: 1.10. */
  ending: ".*[.][0-9]+0",
} as const;

/**
 * Finds what a column of texts that could be numbers would lose as numbers: `0042`, `+49170…`, `1e5`, more than 53 bits.
 *
 * @param present number of rows that have a value
 * @returns `code`: why they are texts; or `doubt`: a remark on two texts that are one number
 */
export async function codeOf(
  session: DuckDbSession,
  { table, rows, text, number, name }: NumberTexts,
  present: number,
): Promise<{ readonly code?: string; readonly doubt?: string }> {
  const counted = Object.entries(patterns).map(
    ([key, pattern]) => `sum(${rows}) FILTER (regexp_full_match(value, ${quoteText(pattern)})) AS ${key}`,
  );
  const decimals = "length(regexp_extract(value, '[.]([0-9]*)$', 1))";
  const [row] = await session.rows(
    `SELECT ${counted.join(", ")}, min(value) FILTER (regexp_full_match(value, ${quoteText(patterns.exponent)})) AS example,
            sum(${rows}) FILTER (number IS NULL AND regexp_full_match(value, '[+-]?[0-9]{16,}')) AS long,
            count(*) FILTER (number IS NULL) AS fractions, min(${decimals}) <> max(${decimals}) AS uneven
       FROM (SELECT ${text} AS value, ${number} AS number, ${rows} FROM ${table}) WHERE value IS NOT NULL`,
  );
  const has = (key: keyof typeof patterns | "long"): number => Number(row![key] ?? 0);
  const type = Number(row!["fractions"]) === 0 ? "int" : "float";
  if (has("padded") > 0)
    return { code: `digits with zeros in front, like a postal code; with type ${type} they are numbers` };
  if (has("long") > 0)
    return { code: "whole numbers of more than 53 bits, which are not int; with type float they are rounded" };
  if (has("minus") === 0 && (has("telephone") > 0 || (has("plus") === present && present > 0)))
    return { code: "digits with + in front, like a telephone number; with type int they are numbers" };
  if (has("grouped") > 0) return { code: "digits with _ between them; with type float they are numbers" };
  if (has("point") === 0 && has("exponent") > 0 && 2 * has("exponent") < present)
    return { code: `digits with an e, such as ${JSON.stringify(row!["example"])}; with type float they are numbers` };
  if (has("ending") === 0 || row!["uneven"] !== true) return {};
  const [same] = await session.rows(
    `SELECT min(value) AS one, max(value) AS other FROM (SELECT ${text} AS value FROM ${table})
      WHERE contains(value, '.') GROUP BY TRY_CAST(value AS DOUBLE) HAVING count(DISTINCT value) > 1 ORDER BY 1 LIMIT 1`,
  );
  if (/version|release|firmware|(^|[^a-z])(ver|rev|build)([^a-z]|$)/i.test(name))
    return { code: "versions, such as 1.1 and 1.10; with type float they are numbers" };
  if (same === undefined) return {};
  const [one, other] = [same["one"], same["other"]].map((value) => JSON.stringify(value));
  return { doubt: `${one} and ${other} are one number; with type string they are two values` };
}

/** The types in the order of the attempts. The first type that fits all values is suggested. */
const candidates = ["bool", "int", "float", "timestamp", "string"] as const;
/** The types of which a few values of a column of text are often wrong. */
export const nearTypes = ["int", "float", "timestamp"] as const;
type NearType = (typeof nearTypes)[number];
/** Share of values from which a column of text is described by the type that they fit. */
export const nearShare = 0.95;

export interface Counts extends DateFormats {
  readonly rows: number;
  readonly present: number;
  readonly distinct: number;
  readonly words: number;
  /** The reason why the values are texts, although all of them could be read as numbers. */
  readonly code?: string;
  /** A remark on numbers. */
  readonly doubt?: string;
  /** Two values of a column whose values are numbers that are written in different ways. */
  readonly mixedNumbers?: readonly string[];
  readonly wordy: number;
  /** One or two texts without a digit, such as `k.A.`; empty if more than half of the values have none. */
  readonly digitless: readonly string[];
  /** The values that are lists or objects of JSON. */
  readonly nested: number;
  readonly nan: number;
  readonly tokens: readonly string[];
  /** The number of elements between commas in each dimension, if every value is in brackets. */
  readonly shape?: readonly number[];
  /** Whether the values are the whole numbers from 0 or 1 on, each once. */
  readonly consecutive: boolean;
  readonly fitting: Readonly<Record<(typeof candidates)[number], number>>;
  /** A value that does not fit the type, if there is one. */
  readonly unfit: Readonly<Partial<Record<NearType, string>>>;
  /** The number formats that fit all values. */
  readonly numberFormats: readonly NumberFormat[];
}

/** The values of a column with the number of their rows. All facts are counted on them, so that a file is read once. */
const values = '"values#"';
// No column is named " rows", " raw" and so on, because names neither begin nor end with a space.
const rows = '" rows"';

export async function groupValues(session: DuckDbSession, table: string, name: string): Promise<void> {
  const column = quoteName(name);
  await session.run(
    `CREATE OR REPLACE TEMP TABLE ${values} AS SELECT ${column}, count(*) AS ${rows} FROM ${table} GROUP BY 1`,
  );
}

/**
 * Returns facts about the values of the column that was grouped last, without those that mean a missing value.
 *
 * @param table the rows of the column, from which a few are read
 */
export async function countsOf(
  session: DuckDbSession,
  table: string,
  { name, missing }: { readonly name: string; readonly missing: readonly string[] },
  sourceType: string,
): Promise<Counts> {
  const columnOf = (type: ColumnSchema["type"], tokens = missing): ColumnSchema => ({
    ...{ name, type, role: "feature", missing: [...tokens] },
  });
  const raw = rawValue(columnOf("string"), sourceType);
  const whole = rawValue(columnOf("string", []), sourceType);
  const text = `trim(CAST(${raw} AS VARCHAR))`;
  const integer = castTo(columnOf("int"), sourceType);
  const rowsWith = (condition: string): string => `coalesce(sum(${rows}) FILTER (${condition}), 0)`;
  const fitting = candidates.map((type) => `${rowsWith(`" as ${type}" IS NOT NULL`)} AS "${type}"`);
  const unfit = nearTypes.map(
    (type) => `min(left(" text", 40)) FILTER (" raw" IS NOT NULL AND " as ${type}" IS NULL) AS "un${type}"`,
  );
  // Within the aggregates, DuckDB would plan and evaluate each expression again.
  const read = candidates.map((type) => `${castTo(columnOf(type, []), sourceType)} AS " as ${type}"`);
  const [row] = await session.rows(
    `SELECT coalesce(sum(${rows}), 0) AS "rows", ${rowsWith(`" raw" IS NOT NULL`)} AS present, count(" raw") AS "distinct",
            ${rowsWith(`lower(" text") IN ('true', 'false')`)} AS words,
            ${rowsWith(`isnan(" as float")`)} AS nan,
            ${rowsWith(`" text"[1] IN ('{', '[') AND json_valid(" text")`)} AS nested,
            ${rowsWith(`starts_with(" text", '[') AND ends_with(" text", ']')`)} AS brackets,
            min(len(string_split(" text", ','))) AS fewest, max(len(string_split(" text", ','))) AS most,
            min(" text") AS smallest, max(" text") AS largest,
            min(" as int") AS first, max(" as int") AS last,
            to_json(list_sort(list(DISTINCT trim(CAST(" whole" AS VARCHAR)))
              FILTER (" whole" IS NOT NULL AND " raw" IS NULL))) AS tokens,
            ${[...fitting, ...unfit].join(", ")}
       FROM (SELECT ${rows}, " whole", ${quoteName(name)} AS " raw", trim(CAST(${quoteName(name)} AS VARCHAR)) AS " text",
                    ${read.join(", ")}
               FROM (SELECT ${rows}, ${whole} AS " whole", ${raw} AS ${quoteName(name)} FROM ${values}))`,
  );
  const number = (key: string): number => Number(row![key]);
  const isList = number("brackets") === number("present") && number("fewest") === number("most");
  /** Text such as "[a] or [b]" is in brackets, too. */
  const isTensor = async (distinct: number, sizes: readonly number[]): Promise<boolean> => {
    if (!isList || distinct === 0) return false;
    const tensor = castTo({ ...columnOf("tensor"), shape: [...sizes] }, sourceType);
    const [row] = await session.rows(`SELECT count(${tensor}) AS fitting FROM ${values}`);
    return Number(row!["fitting"]) === distinct;
  };
  const shape = isList ? shapeOf(String(row!["smallest"]), String(row!["largest"])) : [];
  const counts = {
    rows: number("rows"),
    present: number("present"),
    distinct: number("distinct"),
    words: number("words"),
    nan: number("nan"),
    nested: number("nested"),
    tokens: row!["tokens"] === null ? [] : (JSON.parse(String(row!["tokens"])) as string[]),
    ...((await isTensor(number("distinct"), shape)) ? { shape } : {}),
    consecutive:
      [0, 1].includes(number("first")) &&
      number("distinct") === number("rows") &&
      number("last") - number("first") + 1 === number("rows"),
    fitting: Object.fromEntries(candidates.map((type) => [type, number(type)])) as Counts["fitting"],
    unfit: Object.fromEntries(
      nearTypes.flatMap((type) => (row![`un${type}`] === null ? [] : [[type, String(row![`un${type}`])]])),
    ),
  };
  const dated = mayBeDate(counts) && counts.shape === undefined;
  const dates = dated ? await dateFormatsOf(session, { table, values }, raw) : { formats: [] };
  const facts = { ...counts, ...dates, numberFormats: [], digitless: [], wordy: 0 };
  const type = counts.shape === undefined ? typeOf(facts) : undefined;
  if (type === "int" || type === "float") {
    return {
      ...facts,
      ...(await codeOf(session, { table: values, rows, text, number: integer, name }, counts.present)),
    };
  }
  if (type !== "string") return facts;
  const numberFormats = await fittingNumberFormats(session, values, columnOf("float"), sourceType, counts.distinct);
  if (numberFormats.length > 0 || counts.nested > 0) return { ...facts, numberFormats };
  return { ...facts, ...(await textFacts(session, text, counts.present)) };
}

/**
 * Returns facts about texts. `digitless` are the first and the last text without a digit; none if more than half of the
 * values have no digit.
 */
async function textFacts(
  session: DuckDbSession,
  text: string,
  present: number,
): Promise<Pick<Counts, "digitless" | "wordy" | "mixedNumbers">> {
  const absent = "NOT regexp_matches(value, '[0-9]')";
  const isNumber = `regexp_full_match(value, ${quoteText(anyNumber)})`;
  const isPlain = "regexp_full_match(value, '[0-9.,]*')";
  const [row] = await session.rows(
    `SELECT coalesce(sum(${rows}) FILTER (${absent}), 0) AS absent, min(value) FILTER (${absent}) AS first, max(value) FILTER (${absent}) AS last,
            coalesce(sum(${rows}) FILTER (regexp_matches(value, '${severalWords}')), 0) AS wordy,
            coalesce(sum(${rows}) FILTER (${isNumber}), 0) AS numbers,
            min(value) FILTER (${isNumber} AND NOT ${isPlain}) AS marked, min(value) FILTER (${isNumber} AND ${isPlain}) AS plain,
            max(value) FILTER (${isNumber}) AS other
       FROM (SELECT ${text} AS value, ${rows} FROM ${values}) WHERE value IS NOT NULL`,
  );
  const without = Number(row!["absent"]);
  const isMixed = Number(row!["numbers"]) >= nearShare * present && row!["marked"] !== null;
  return {
    digitless:
      without === 0 || 2 * without > present ? [] : [...new Set([String(row!["first"]), String(row!["last"])])],
    wordy: Number(row!["wordy"]),
    ...(isMixed ? { mixedNumbers: [String(row!["marked"]), String(row!["plain"] ?? row!["other"])] } : {}),
  };
}

/** Returns the shape of two lists with equally many numbers: nested only if both are nested alike. */
function shapeOf(one: string, other: string): readonly number[] {
  const shape = nestingOf(one);
  return shape && shape.join() === nestingOf(other)?.join() ? shape : [one.split(",").length];
}

/** Returns the sizes of nested lists; `undefined` if lists of one depth have different sizes, or are too deep for a shape. */
function nestingOf(text: string): readonly number[] | undefined {
  const zeros = text.replaceAll(/[^[\],]/g, "").replaceAll(/(?<=[[,])(?=[\],])/g, "0");
  const isRegular = (list: unknown, [size, ...rest]: readonly number[]): boolean =>
    Array.isArray(list) ? list.length === size && list.every((each) => isRegular(each, rest)) : size === undefined;
  try {
    const lists: unknown = JSON.parse(zeros);
    const shape: number[] = [];
    for (let list = lists; Array.isArray(list); list = list[0] as unknown) shape.push(list.length);
    return shape.length <= maxDimensions && isRegular(lists, shape) ? shape : undefined;
  } catch {
    return undefined;
  }
}

/** Excludes columns of numbers, except whole ones such as 20240131. */
function mayBeDate({
  present,
  fitting: { float, int, timestamp, string },
}: Pick<Counts, "present" | "fitting">): boolean {
  return present > 0 && string === present && timestamp < present && (float < present || int === present);
}

export function typeOf({
  present,
  words,
  code,
  fitting,
  formats,
  numberFormats: [number],
}: Pick<Counts, "present" | "words" | "code" | "fitting" | "formats" | "numberFormats">):
  | (typeof candidates)[number]
  | undefined {
  if (formats.length > 0) return "timestamp";
  if (number !== undefined) return number.type;
  // 0 and 1 could also be bool. They are suggested as numbers, and the user may change that.
  return candidates.find((type) => {
    if (type === "bool" && words < present) return false;
    if ((type === "int" || type === "float") && code !== undefined) return false;
    return fitting[type] === present;
  });
}
