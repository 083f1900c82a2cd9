import { negatives } from "../../core/datasets/number-format";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { castTo, rawValue, withMinus } from "./cast";
import type { DuckDbSession } from "./session";

/** A format of numbers, with the type that fits all values. */
export interface NumberFormat {
  readonly format: string;
  readonly type: "int" | "float";
}

/** Ways to write 1234.5, in the order in which they are suggested. */
const numbers = ["1,234.5", "1'234.5", "1’234.5", "1234,5", "1.234,5", "1 234,5", "1\u00a0234,5", "1\u202f234,5"];
/** Texts that values may have before or after the number. Other texts make codes, such as `city7`. */
const codes = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL";
const ends = [`(?:[A-Z]{0,2}\\p{Sc}|${codes})[ \u00a0]?`, `[ \u00a0]?(?:[%‰]|\\p{Sc}|${codes})`] as const;
const affixes = ends.map((pattern) => new RegExp(`^(?:${pattern})?$`, "u"));
/** A number in any format, in RE2's syntax. */
const digits = "(?:[0-9]{1,3}(?:[.,'’ \u00a0\u202f][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)?";
export const anyNumber = `[(]?[+−-]?(?:${ends[0]})?[(]?[+−-]?${digits}(?:${ends[1]})?[)]?[−-]?(?:${ends[1]})?[)]?`;

/**
 * Returns the number formats that fit every value of a column of text: the most probable one, and then one that gives
 * other numbers, if any. Returns none if digits have zeros in front, which a number loses.
 *
 * @param table has each value once
 * @param present the number of values that are not missing
 */
export async function fittingNumberFormats(
  session: DuckDbSession,
  table: string,
  column: ColumnSchema,
  sourceType: string,
  present: number,
): Promise<readonly NumberFormat[]> {
  const text = `trim(CAST(${rawValue(column, sourceType)} AS VARCHAR))`;
  const marks = Object.entries(negatives);
  const marked = marks.map(
    ([, pattern], at) => `coalesce(bool_or(regexp_matches(${text}, '${pattern}')), false) AS m${at}`,
  );
  const [seen] = await session.rows(
    `SELECT bool_or(regexp_matches(${text}, '^[^0-9]*0[0-9]')) AS padded, ${marked.join(", ")} FROM ${table}`,
  );
  if (seen!["padded"] === true) return [];
  const [mark, negative] = marks.find((_, at) => seen![`m${at}`] === true) ?? [];
  const number = negative === undefined ? text : withMinus(text, negative);
  const around = [`regexp_extract(${number}, '^[+-]?([^0-9+-]*)', 1)`, `regexp_extract(${number}, '[^0-9]*$')`];
  const same = around.map((affix) => `CASE WHEN min(${affix}) = max(${affix}) THEN min(${affix}) END`);
  const [found] = await session.rows(`SELECT ${same[0]} AS before, ${same[1]} AS after FROM ${table}`);
  const own = [found!["before"], found!["after"]].map((affix) => (affix === null ? undefined : String(affix)));
  if (own.some((affix, index) => affix === undefined || !affixes[index]!.test(affix))) return [];
  const written = own.join("") === "" && mark === undefined ? numbers : ["1234", "1234.5", ...numbers];
  const formats = written.map((example) => `${mark === ")" ? "(" : ""}${own.join(example)}${mark ?? ""}`);
  const measures = formats.flatMap((format, index) => {
    const [whole, float] = (["int", "float"] as const).map((type) => castTo({ ...column, type, format }, sourceType));
    return [`count(${whole}) AS whole${index}`, `count(${float}) AS fits${index}`, `sum(${float}) AS sum${index}`];
  });
  const [measured] = await session.rows(`SELECT ${measures.join(", ")} FROM ${table}`);
  const value = (measure: string, index: number): number => Number(measured![`${measure}${index}`]);
  const fitting = formats.flatMap((format, index) => {
    if (value("fits", index) < present) return [];
    const type = value("whole", index) === present ? "int" : "float";
    if (type === "float" && written[index] === "1234") return []; // the next one says the same, and shows decimals
    return [{ format, type, sum: value("sum", index) } as const];
  });
  // 12,345 is more probably a whole number than one with three decimals.
  const [first, ...more] = fitting.toSorted((one, other) => Number(other.type === "int") - Number(one.type === "int"));
  return first === undefined ? [] : [first, ...more.filter(({ sum }) => sum !== first.sum).slice(0, 1)];
}
