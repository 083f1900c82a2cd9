import { digestOf } from "../../../core/digest";
import { parseJson } from "../../../core/json-text";
import { invalidParameter, invalidValue } from "../errors";

/** Maximum number of results of a search (`SEARCH_MAX_RESULTS_THRESHOLD`). */
const maxResults = 50_000;

export function checkMaxResults(limit: number): void {
  if (limit >= 1 && limit <= maxResults) return;
  throw invalidValue("max_results", limit, `must be from 1 to ${maxResults}`);
}

/** The query of a token, by the names of its parts. */
export type PagedQuery = Readonly<Partial<Record<"experiment_ids" | "filter" | "order_by", unknown>>>;

/**
 * Returns a page of a list. Tokens are offsets, as in MLflow.
 *
 * @param query the query to which a token must belong; other tokens are refused
 * @throws MlflowError
 */
export function pageOf<T>(found: readonly T[], limit: number, token: string | undefined, query: PagedQuery = {}) {
  const of = Object.values(query).map((part) => digestOf(part).slice(0, 16));
  const offset = offsetOf(token, Object.keys(query), of);
  const next = offset + limit;
  return { items: found.slice(offset, next), nextToken: next < found.length ? tokenOf(next, of) : undefined };
}

function tokenOf(offset: number, of: readonly string[]): string {
  return Buffer.from(JSON.stringify({ offset, ...(of.length > 0 ? { of } : {}) })).toString("base64");
}

function offsetOf(token: string | undefined, parts: readonly string[], of: readonly string[]): number {
  if (token === undefined || token === "") return 0;
  const read = readToken(token);
  parts.forEach((part, i) => {
    if (read.of[i] === of[i]) return;
    throw invalidParameter(`the page token belongs to a search with other ${part}: search again without it`);
  });
  return read.offset;
}

function readToken(token: string): { readonly offset: number; readonly of: readonly unknown[] } {
  try {
    const { offset, of = [] } = parseJson(Buffer.from(token, "base64").toString("utf8")) as Record<string, unknown>;
    if (Number.isSafeInteger(offset) && (offset as number) >= 0 && Array.isArray(of)) {
      return { offset: offset as number, of };
    }
  } catch {}
  throw invalidParameter("Invalid page token: it is not one that a search returned");
}
