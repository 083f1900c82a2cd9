import { MlflowFilterError } from "../../../core/tracking/search/errors";
import { pythonRepr } from "../python-text";
import { isValueLike, type MlflowToken, mlflowTokens } from "./tokens";

/**
 * MLflow's filters are clauses with AND between them: `identifier comparator value`, `identifier [NOT] IN (list)`, `identifier IS [NOT] NULL`. Grammar and
 * refusals are those of `mlflow/utils/search_utils.py` (3.17) on sqlparse; AND may stand too often or not at all, as there.
 */
export interface Clause {
  readonly identifier: MlflowToken;
  /** In capitals: `NOT LIKE`. */
  readonly comparator: string;
  /** As it was written. */
  readonly rawComparator: string;
  /** Absent with `IS NULL` and `IS NOT NULL`. */
  readonly value?: MlflowToken;
}

/** MLflow takes any length; a filter costs what it says. */
const longest = 100_000;

/** @param shown what a refusal shows: the parts that are no clause, between quotes or bare, or all of the filter @throws MlflowFilterError */
export function parseClauses(filter: string, shown: "quoted" | "bare" | "filter"): readonly Clause[] {
  if (filter.length > longest) {
    throw new MlflowFilterError(
      `Filter string of ${filter.length} characters is too long: at most ${longest} are allowed.`,
    );
  }
  const tokens = mlflowTokens(filter);
  const clauses: Clause[] = [];
  const invalid: MlflowToken[] = [];
  let at = 0;
  const isKeyword = (offset: number, word: string): boolean => {
    const token = tokens[at + offset];
    return token?.kind === "keyword" && token.raw.toUpperCase() === word;
  };
  const take = (length: number, comparator: string, value?: MlflowToken): void => {
    const identifier = tokens[at]!;
    const rawComparator = tokens[at + 1]!.raw;
    clauses.push({ identifier, comparator, rawComparator, ...(value === undefined ? {} : { value }) });
    at += length;
  };
  while (at < tokens.length) {
    const token = tokens[at]!;
    const second = tokens[at + 1];
    const third = tokens[at + 2];
    const named = token.kind === "identifier";
    if (isKeyword(0, "AND")) at += 1;
    else if (second?.kind === "comparator" && isValueLike(token) && third && isValueLike(third)) {
      take(3, second.raw.toUpperCase().replaceAll(/\s+/g, " "), third);
    } else if (named && isKeyword(1, "IN") && third?.kind === "list") take(3, "IN", third);
    else if (named && isKeyword(1, "NOT") && isKeyword(2, "IN") && tokens[at + 3]?.kind === "list") {
      take(4, "NOT IN", tokens[at + 3]);
    } else if (named && isKeyword(1, "IS") && isKeyword(2, "NULL")) take(3, "IS NULL");
    else if (named && isKeyword(1, "IS") && isKeyword(2, "NOT") && isKeyword(3, "NULL")) take(4, "IS NOT NULL");
    else {
      invalid.push(token);
      at += 1;
    }
  }
  if (invalid.length > 0) {
    if (shown === "filter") {
      throw new MlflowFilterError(
        `Invalid filter string: ${pythonRepr(filter)}. Expected a list of comparisons separated by 'AND' (e.g. 'metrics.loss > 0.1 AND params.lr = 0.01').`,
      );
    }
    const parts = invalid.map(({ raw }) => (shown === "quoted" ? `'${raw}'` : raw)).join(", ");
    throw new MlflowFilterError(`Invalid clause(s) in filter string: ${parts}`);
  }
  for (const { identifier } of clauses) {
    if (identifier.kind === "identifier") continue;
    throw new MlflowFilterError(`Invalid comparison clause. Expected 'Identifier' found '${identifier.raw}'`);
  }
  return clauses;
}

/** `'a'` or `"a"` without its quotes, which must be there. */
export function quotedText(token: MlflowToken): string {
  const text = withoutQuotes(token.raw);
  if (text !== undefined) return text;
  throw new MlflowFilterError(
    `Parameter value is either not quoted or unidentified quote types used for string value ${token.raw}. ` +
      "Use either single or double quotes.",
  );
}

function withoutQuotes(raw: string): string | undefined {
  const quote = raw[0];
  return raw.length >= 2 && (quote === "'" || quote === '"') && raw.endsWith(quote) ? raw.slice(1, -1) : undefined;
}

/** A key between quotes or backticks, or bare. */
export function keyText(raw: string): string {
  const key = withoutQuotes(raw) ?? raw;
  return key.length >= 2 && key.startsWith("`") && key.endsWith("`") ? key.slice(1, -1) : key;
}

const illFormed =
  "While parsing a list in the query, expected a non-empty list of string values, but got ill-formed list.";

/** `('a', "b")`: Python's literals, as MLflow reads them. */
export function listTexts(token: MlflowToken): readonly string[] {
  const inner = token.raw.slice(1, -1);
  if (inner.trim() === "") {
    throw new MlflowFilterError(
      "While parsing a list in the query, expected a non-empty list of string values, but got empty list",
    );
  }
  const item = /\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")\s*(,|$)/y;
  const texts: string[] = [];
  let at = 0;
  while (at < inner.length) {
    item.lastIndex = at;
    const match = item.exec(inner);
    if (!match) {
      if (/^\s*[-+]?[\d.]+\s*(?:,|$)/.test(inner.slice(at))) {
        throw new MlflowFilterError(
          "While parsing a list in the query, expected string value, punctuation, or whitespace, " +
            `but got different type in list: ${inner.includes(",") ? token.raw : `(${inner.trim()},)`}`,
        );
      }
      if (at > 0 && inner.slice(at).trim() === "") break;
      throw new MlflowFilterError(illFormed);
    }
    texts.push((match[1] ?? match[2]!).replaceAll(/\\(.)/g, "$1"));
    at = item.lastIndex;
  }
  return texts;
}

/** Python's way to show a set, in a settled order. */
export function pythonSet(values: readonly string[]): string {
  return `{${[...values]
    .sort()
    .map((value) => `'${value}'`)
    .join(", ")}}`;
}

export function pythonList(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(", ")}]`;
}
