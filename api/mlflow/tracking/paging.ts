import { digestOf } from "../../../core/digest";
import { InvalidInputError } from "../../../core/errors";
import { parseJson } from "../../../core/json-text";
import { invalidParameter } from "../errors";

/** Of searches (`SEARCH_MAX_RESULTS_THRESHOLD`). */
const mostResults = 50_000;

export function checkMaxResults(limit: number): void {
  const refuse = (rule: string): never => {
    throw invalidParameter(`Invalid value ${limit} for parameter 'max_results' supplied. It must be ${rule}`);
  };
  if (limit < 1) refuse("a positive integer");
  if (limit > mostResults) refuse(`at most ${mostResults}`);
}

/** What a token is of, by the names of its parts in MLflow's refusals. */
export type PagedQuery = Readonly<Partial<Record<"experiment IDs" | "filter string" | "order by", unknown>>>;

/**
 * A stretch of a list that was found whole. Tokens are places in it, as MLflow's own are.
 *
 * @param query where MLflow's tokens are of one query: a token of another is refused
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
    const begun = `${part[0]!.toUpperCase()}${part.slice(1)} in the page token ${part.endsWith("s") ? "do" : "does"}`;
    throw invalidParameter(`${begun} not match the requested ${part}. Begin anew, without a token.`);
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
  throw invalidParameter("Invalid page token, could not base64-decode");
}

/** Pages of a store with tokens of its own: what it says of a wrong one, begun as MLflow's server does. */
export async function withPageToken<T>(token: string | undefined, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!token || !(error instanceof InvalidInputError)) throw error;
    throw invalidParameter(`Invalid page token, could not base64-decode: ${error.message}`);
  }
}
