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

/** A stretch of a list that was found whole. Tokens are places in it, as MLflow's own are. */
export function pageOf<T>(found: readonly T[], limit: number, token: string | undefined) {
  const offset = offsetOf(token);
  const next = offset + limit;
  return { items: found.slice(offset, next), nextToken: next < found.length ? tokenOf(next) : undefined };
}

function tokenOf(offset: number): string {
  return Buffer.from(JSON.stringify({ offset })).toString("base64");
}

function offsetOf(token: string | undefined): number {
  if (token === undefined || token === "") return 0;
  try {
    const { offset } = JSON.parse(Buffer.from(token, "base64").toString("utf8")) as { readonly offset: unknown };
    if (Number.isSafeInteger(offset) && (offset as number) >= 0) return offset as number;
  } catch {}
  throw invalidParameter("Invalid page token, could not base64-decode");
}
