import type { ColumnSchema } from "../../core/datasets/shapes";
import { castTo, rawValue } from "./cast";
import { type DateFormats, dateFormatsOf } from "./date-formats";
import { fittingNumberFormats, type NumberFormat } from "./number-formats";
import type { DuckDbSession } from "./session";

/** The types in the order of the attempts. The first type that fits all values is suggested. */
const candidates = ["bool", "int", "float", "timestamp", "string"] as const;
/** The types of which a few values of a column of text are often wrong. */
export const nearTypes = ["int", "float", "timestamp"] as const;
type NearType = (typeof nearTypes)[number];

/** Facts about the values of a column, from which its type follows. */
export interface Counts extends DateFormats {
  readonly rows: number;
  readonly present: number;
  readonly distinct: number;
  readonly words: number;
  /** The values that consist of digits alone. */
  readonly digits: number;
  /** The values that consist of digits and have a zero in front, such as the postal code 01067. */
  readonly padded: number;
  /** One or two texts without a digit, such as `k.A.`; empty if more than half of the values have none. */
  readonly digitless: readonly string[];
  /** The values that are lists or objects of JSON. */
  readonly nested: number;
  /** The numbers that are NaN. */
  readonly nan: number;
  /** The missing tokens that the column has. */
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

/** Counts the values of a column, without those that mean a missing value. */
export async function countsOf(
  session: DuckDbSession,
  table: string,
  { name, missing }: { readonly name: string; readonly missing: string[] },
  sourceType: string,
): Promise<Counts> {
  const columnOf = (type: ColumnSchema["type"], tokens = missing): ColumnSchema => ({
    ...{ name, type, role: "feature", missing: tokens },
  });
  const raw = rawValue(columnOf("string"), sourceType);
  const whole = rawValue(columnOf("string", []), sourceType);
  const text = `trim(CAST(${raw} AS VARCHAR))`;
  const integer = castTo(columnOf("int"), sourceType);
  const fitting = candidates.map((type) => `count(${castTo(columnOf(type), sourceType)}) AS "${type}"`);
  const unfit = nearTypes.map(
    (type) =>
      `min(left(${text}, 40)) FILTER (${raw} IS NOT NULL AND ${castTo(columnOf(type), sourceType)} IS NULL) AS "un${type}"`,
  );
  const [row] = await session.rows(
    `SELECT count(*) AS "rows", count(${raw}) AS present, count(DISTINCT ${raw}) AS "distinct",
            count(*) FILTER (lower(${text}) IN ('true', 'false')) AS words,
            count(*) FILTER (regexp_full_match(${text}, '[+-]?[0-9]+')) AS digits,
            count(*) FILTER (regexp_full_match(${text}, '[+-]?0[0-9]+')) AS padded,
            count_if(isnan(${castTo(columnOf("float"), sourceType)})) AS nan,
            count(*) FILTER (${text}[1] IN ('{', '[') AND json_valid(${text})) AS nested,
            count(*) FILTER (starts_with(${text}, '[') AND ends_with(${text}, ']')) AS brackets,
            min(len(string_split(${text}, ','))) AS fewest, max(len(string_split(${text}, ','))) AS most,
            min(${text}) AS smallest, max(${text}) AS largest,
            min(${integer}) AS first, max(${integer}) AS last,
            to_json(list_sort(list(DISTINCT trim(CAST(${whole} AS VARCHAR)))
              FILTER (${whole} IS NOT NULL AND ${raw} IS NULL))) AS tokens,
            ${[...fitting, ...unfit].join(", ")} FROM ${table}`,
  );
  const number = (key: string): number => Number(row![key]);
  const isList = number("brackets") === number("present") && number("fewest") === number("most");
  /** Text such as "[a] or [b]" is in brackets, too. */
  const isTensor = async (present: number, sizes: readonly number[]): Promise<boolean> => {
    if (!isList || present === 0) return false;
    const tensor = castTo({ ...columnOf("tensor"), shape: [...sizes] }, sourceType);
    const [found] = await session.rows(`SELECT count(${tensor}) AS fitting FROM ${table}`);
    return Number(found!["fitting"]) === present;
  };
  const shape = isList ? shapeOf(String(row!["smallest"]), String(row!["largest"])) : [];
  const counts = {
    rows: number("rows"),
    present: number("present"),
    distinct: number("distinct"),
    words: number("words"),
    digits: number("digits"),
    padded: number("padded"),
    nan: number("nan"),
    nested: number("nested"),
    tokens: row!["tokens"] === null ? [] : (JSON.parse(String(row!["tokens"])) as string[]),
    ...((await isTensor(number("present"), shape)) ? { shape } : {}),
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
  const dates = dated ? await dateFormatsOf(session, table, raw) : { formats: [] };
  const isText =
    counts.shape === undefined &&
    counts.digits < counts.present &&
    typeOf({ ...counts, ...dates, numberFormats: [], digitless: [] }) === "string";
  const column = columnOf("float");
  const numberFormats = isText ? await fittingNumberFormats(session, table, column, sourceType, counts.present) : [];
  const mayBeNear = isText && numberFormats.length === 0 && counts.nested === 0;
  return { ...counts, ...dates, numberFormats, digitless: mayBeNear ? await digitlessOf(session, table, raw) : [] };
}

/** Finds the first and the last text without a digit. Returns none if more than half of the values have no digit. */
async function digitlessOf(session: DuckDbSession, table: string, raw: string): Promise<readonly string[]> {
  const without = "FILTER (NOT regexp_matches(value, '[0-9]'))";
  const [found] = await session.rows(
    `SELECT count(*) AS present, count(*) ${without} AS absent, min(value) ${without} AS first, max(value) ${without} AS last
       FROM (SELECT trim(CAST(${raw} AS VARCHAR)) AS value FROM ${table} WHERE ${raw} IS NOT NULL)`,
  );
  const absent = Number(found!["absent"]);
  if (absent === 0 || 2 * absent > Number(found!["present"])) return [];
  return [...new Set([String(found!["first"]), String(found!["last"])])];
}

/** Returns the shape of two lists with equally many numbers: nested only if both are nested alike. */
function shapeOf(one: string, other: string): readonly number[] {
  const shape = nestingOf(one);
  return shape && shape.join() === nestingOf(other)?.join() ? shape : [one.split(",").length];
}

/** Returns the sizes of nested lists; `undefined` if lists of one depth have different sizes. */
function nestingOf(text: string): readonly number[] | undefined {
  const zeros = text.replaceAll(/[^[\],]/g, "").replaceAll(/(?<=[[,])(?=[\],])/g, "0");
  const isRegular = (list: unknown, [size, ...rest]: readonly number[]): boolean =>
    Array.isArray(list) ? list.length === size && list.every((each) => isRegular(each, rest)) : size === undefined;
  try {
    const lists: unknown = JSON.parse(zeros);
    const shape: number[] = [];
    for (let list = lists; Array.isArray(list); list = list[0] as unknown) shape.push(list.length);
    return isRegular(lists, shape) ? shape : undefined;
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

/** Returns the first type that fits all values; `undefined` if none does. */
export function typeOf({
  present,
  words,
  digits,
  padded,
  fitting,
  formats,
  numberFormats: [number],
}: Counts): (typeof candidates)[number] | undefined {
  if (formats.length > 0) return "timestamp";
  if (number !== undefined) return number.type;
  // 0 and 1 could also be bool. They are suggested as numbers, and the user may change that.
  return candidates.find((type) => {
    if (type === "bool" && words < present) return false;
    if (type === "int" && padded > 0 && digits === present) return false;
    // Whole numbers that are no int have more than 53 bits. A float would round them, and make different ids equal.
    if (type === "float" && digits === present && present > 0) return false;
    return fitting[type] === present;
  });
}
