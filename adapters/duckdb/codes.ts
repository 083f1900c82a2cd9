import { type DuckDbSession, quoteText } from "./session";

/** The values of a column, all of which could be read as numbers. */
interface NumberTexts {
  /** A table with each value once, and the number of its rows. */
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
  const [found] = await session.rows(
    `SELECT ${counted.join(", ")}, min(value) FILTER (regexp_full_match(value, ${quoteText(patterns.exponent)})) AS example,
            sum(${rows}) FILTER (number IS NULL AND regexp_full_match(value, '[+-]?[0-9]{16,}')) AS long,
            count(*) FILTER (number IS NULL) AS fractions, min(${decimals}) <> max(${decimals}) AS uneven
       FROM (SELECT ${text} AS value, ${number} AS number, ${rows} FROM ${table}) WHERE value IS NOT NULL`,
  );
  const has = (key: keyof typeof patterns | "long"): number => Number(found![key] ?? 0);
  const type = Number(found!["fractions"]) === 0 ? "int" : "float";
  if (has("padded") > 0)
    return { code: `digits with zeros in front, like a postal code; with type ${type} they are numbers` };
  if (has("long") > 0)
    return { code: "whole numbers of more than 53 bits, which are not int; with type float they are rounded" };
  if (has("minus") === 0 && (has("telephone") > 0 || (has("plus") === present && present > 0)))
    return { code: "digits with + in front, like a telephone number; with type int they are numbers" };
  if (has("grouped") > 0) return { code: "digits with _ between them; with type float they are numbers" };
  if (has("point") === 0 && has("exponent") > 0 && 2 * has("exponent") < present)
    return { code: `digits with an e, such as ${JSON.stringify(found!["example"])}; with type float they are numbers` };
  if (has("ending") === 0 || found!["uneven"] !== true) return {};
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
