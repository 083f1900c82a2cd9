import type { ColumnSchema } from "../../core/datasets/shapes";
import { castTo, rawValue } from "./cast";
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
const affixes = [`(?:[A-Z]{0,2}\\p{Sc}|${codes})[ \u00a0]?`, `[ \u00a0]?(?:[%‰]|\\p{Sc}|${codes})`].map(
  (pattern) => new RegExp(`^(?:${pattern})?$`, "u"),
);

/**
 * Returns the number formats that fit every value of a column of text: the most probable one, and then one that gives
 * other numbers, if any.
 *
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
  const around = [`regexp_extract(${text}, '^[+-]?([^0-9+-]*)', 1)`, `regexp_extract(${text}, '[^0-9]*$')`];
  const ends = around.map((affix) => `CASE WHEN min(${affix}) = max(${affix}) THEN min(${affix}) END`);
  const [found] = await session.rows(`SELECT ${ends[0]} AS before, ${ends[1]} AS after FROM ${table}`);
  const own = [found!["before"], found!["after"]].map((affix) => (affix === null ? undefined : String(affix)));
  if (own.some((affix, index) => affix === undefined || !affixes[index]!.test(affix))) return [];
  const written = own.join("") === "" ? numbers : ["1234", "1234.5", ...numbers];
  const formats = written.map((number) => own.join(number));
  const measures = formats.flatMap((format, index) => {
    const [whole, number] = (["int", "float"] as const).map((type) => castTo({ ...column, type, format }, sourceType));
    return [`count(${whole}) AS whole${index}`, `count(${number}) AS fits${index}`, `sum(${number}) AS sum${index}`];
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
