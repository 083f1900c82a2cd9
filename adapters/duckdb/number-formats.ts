import { negatives } from "../../core/datasets/number-format";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { castTo, rawValue, withMinus } from "./cast";
import { type DuckDbSession, quoteName, quoteText } from "./session";

/** Dates by their order and separator, and the pattern that tells years of four digits from those of two. */
const dates: readonly (readonly [format: string, pattern: string])[] = [
  ...["/", ".", "-"].flatMap((mark) => {
    const [short, long] = [
      `[0-9]{1,2}[${mark}][0-9]{1,2}[${mark}][0-9]{2}`,
      `[0-9]{1,2}[${mark}][0-9]{1,2}[${mark}][0-9]{4}`,
    ];
    return [
      [`%d${mark}%m${mark}%Y`, long],
      [`%m${mark}%d${mark}%Y`, long],
      [`%d${mark}%m${mark}%y`, short],
      [`%m${mark}%d${mark}%y`, short],
    ] as const;
  }),
  ["%Y.%m.%d", "[0-9]{4}[.][0-9]{1,2}[.][0-9]{1,2}"],
  ["%Y%m%d", "(19|20)[0-9]{6}"],
  ["%d %b %Y", "[0-9]{1,2} [A-Za-z]{3} [0-9]{4}"],
  ["%d-%b-%Y", "[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}"],
  ["%d-%b-%y", "[0-9]{1,2}-[A-Za-z]{3}-[0-9]{2}"],
  ["%d %B %Y", "[0-9]{1,2} [A-Za-z]+ [0-9]{4}"],
  ...["", ","].flatMap((comma) => [
    [`%b %d${comma} %Y`, `[A-Za-z]{3} [0-9]{1,2}${comma} [0-9]{4}`] as const,
    [`%B %d${comma} %Y`, `[A-Za-z]+ [0-9]{1,2}${comma} [0-9]{4}`] as const,
  ]),
];
const times: readonly (readonly [format: string, pattern: string])[] = [
  ["", ""],
  ...[" ", ", "].flatMap((before) => [
    [`${before}%H:%M`, `${before}[0-9]{1,2}:[0-9]{2}`] as const,
    [`${before}%H:%M:%S`, `${before}[0-9]{1,2}:[0-9]{2}:[0-9]{2}`] as const,
    [`${before}%H:%M:%S.%f`, `${before}[0-9]{1,2}:[0-9]{2}:[0-9]{2}[.][0-9]+`] as const,
    [`${before}%I:%M %p`, `${before}[0-9]{1,2}:[0-9]{2} [AaPp][Mm]`] as const,
    [`${before}%I:%M:%S %p`, `${before}[0-9]{1,2}:[0-9]{2}:[0-9]{2} [AaPp][Mm]`] as const,
  ]),
];
const formats = dates.flatMap(([date, datePattern]) =>
  times.map(([time, timePattern]) => ({ format: date + time, pattern: new RegExp(`^${datePattern}${timePattern}$`) })),
);
const isoDate = /^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?$/;
const sampledValues = 100;

export interface DateFormats {
  /** The formats that fit every value, the most probable first. */
  readonly formats: readonly string[];
  /** Two values of a column whose values are dates of different formats. */
  readonly mixed?: readonly [string, string];
}

/**
 * Finds the date formats of a column. The first rows exclude most formats, and one pass over all values checks the others.
 *
 * @param values a table with each value of the column once
 * @param raw SQL for the column's text, NULL where it is missing
 */
export async function dateFormatsOf(
  session: DuckDbSession,
  { table, values }: { readonly table: string; readonly values: string },
  raw: string,
): Promise<DateFormats> {
  const text = quoteName("text#");
  const texts = (from: string): string => `SELECT trim(CAST(${raw} AS VARCHAR)) AS ${text} FROM ${from}`;
  // Most columns keep no format. A query of all formats takes some 60 ms, which adds up over thousands of columns.
  const sample = await session.rows(`${texts(table)} WHERE ${raw} IS NOT NULL LIMIT ${sampledValues}`);
  const sampled = sample.map((row) => String(row["text#"]));
  const candidates = formats.filter(({ pattern }) => sampled.every((value) => pattern.test(value)));
  if (candidates.length === 0) return { formats: [], ...mixedIn(sampled) };
  const fit = (await fitting(session, texts(values), candidates)).map(({ format }) => format);
  // "May" is a short and a full name.
  return { formats: fit.filter((format) => !format.includes("%B") || !fit.includes(format.replace("%B", "%b"))) };
}

/** Finds two dates that have no format in common, if all values are dates. */
function mixedIn(values: readonly string[]): Pick<DateFormats, "mixed"> {
  const formatsOf = (value: string): readonly (string | undefined)[] => [
    ...(isoDate.test(value) ? [undefined] : []),
    ...formats.filter(({ pattern }) => pattern.test(value)).map(({ format }) => format),
  ];
  const [first, ...others] = values.map(formatsOf);
  if (first === undefined || [first, ...others].some((formats) => formats.length === 0)) return {};
  const other = others.findIndex((formats) => !formats.some((format) => first.includes(format)));
  return other < 0 ? {} : { mixed: [values[0] as string, values[other + 1] as string] };
}

async function fitting(session: DuckDbSession, values: string, candidates: typeof formats): Promise<typeof formats> {
  const text = quoteName("text#");
  const broken = candidates.map(
    ({ format, pattern }, index) =>
      `count_if(${text} IS NOT NULL AND NOT coalesce(regexp_full_match(${text}, ${quoteText(pattern.source)})
                AND try_strptime(${text}, ${quoteText(format)}) IS NOT NULL, false)) AS "${index}"`,
  );
  const [row] = await session.rows(`SELECT ${broken.join(", ")} FROM (${values})`);
  return candidates.filter((_, index) => Number(row![String(index)]) === 0);
}

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
  const [row] = await session.rows(`SELECT ${same[0]} AS before, ${same[1]} AS after FROM ${table}`);
  const affixTexts = [row!["before"], row!["after"]].map((affix) => (affix === null ? undefined : String(affix)));
  if (affixTexts.some((affix, index) => affix === undefined || !affixes[index]!.test(affix))) return [];
  const written = affixTexts.join("") === "" && mark === undefined ? numbers : ["1234", "1234.5", ...numbers];
  const formats = written.map((example) => `${mark === ")" ? "(" : ""}${affixTexts.join(example)}${mark ?? ""}`);
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
