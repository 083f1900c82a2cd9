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
  if (first === undefined || [first, ...others].some((found) => found.length === 0)) return {};
  const other = others.findIndex((found) => !found.some((format) => first.includes(format)));
  return other < 0 ? {} : { mixed: [values[0] as string, values[other + 1] as string] };
}

async function fitting(session: DuckDbSession, values: string, candidates: typeof formats): Promise<typeof formats> {
  const text = quoteName("text#");
  const broken = candidates.map(
    ({ format, pattern }, index) =>
      `count_if(${text} IS NOT NULL AND NOT coalesce(regexp_full_match(${text}, ${quoteText(pattern.source)})
                AND try_strptime(${text}, ${quoteText(format)}) IS NOT NULL, false)) AS "${index}"`,
  );
  const [found] = await session.rows(`SELECT ${broken.join(", ")} FROM (${values})`);
  return candidates.filter((_, index) => Number(found![String(index)]) === 0);
}
