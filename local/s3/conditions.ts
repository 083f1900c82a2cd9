import type { IncomingHttpHeaders } from "node:http";
import { noSuchKey, notImplemented, preconditionFailed, S3Error } from "./errors";
import type { ObjectRecord } from "./record";

type Version = Pick<ObjectRecord, "etag">;

export interface WriteCondition {
  readonly absent?: boolean;
  readonly etag?: string;
}

export interface RemovalCondition extends WriteCondition {
  /** Removes only this version. Another one stays, without an error. */
  readonly version?: string | undefined;
}

export function writeCondition(headers: IncomingHttpHeaders): WriteCondition {
  const noneMatch = headers["if-none-match"];
  const match = headers["if-match"];
  if (noneMatch !== undefined && noneMatch.trim() !== "*")
    throw notImplemented("If-None-Match with an ETag on a write");
  return {
    ...(noneMatch === undefined ? {} : { absent: true }),
    ...(match === undefined ? {} : { etag: match }),
  };
}

export function checkWrite(condition: WriteCondition, current: Version | undefined, key: string): void {
  if (condition.absent && current) throw preconditionFailed("If-None-Match");
  if (condition.etag === undefined) return;
  if (!current) throw noSuchKey(key);
  if (!matches(condition.etag, current.etag)) throw preconditionFailed("If-Match");
}

/**
 * Checks the conditions of a read, in the order of RFC 9110 §13.2.2.
 * @param prefix `x-amz-copy-source-` for the conditions on the source of a copy
 * @returns whether the client already has the object (304, or 412 for the source of a copy)
 * @throws S3Error 412 PreconditionFailed
 */
export function isUnchanged(headers: IncomingHttpHeaders, current: Version, prefix = ""): boolean {
  const header = (name: string) => {
    const value = headers[prefix + name];
    return value === undefined ? undefined : String(value);
  };
  const match = header("if-match");
  const noneMatch = header("if-none-match");
  if (match !== undefined && !matches(match, current.etag)) throw preconditionFailed("If-Match");
  return noneMatch !== undefined && matches(noneMatch, current.etag);
}

function matches(condition: string, etag: string): boolean {
  return condition.split(",").some((candidate) => {
    const bare = candidate.trim().replace(/^W\//, "").replace(/^"|"$/g, "");
    return bare === "*" || bare === etag;
  });
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header for a body of `size` bytes. Returns undefined for the whole body: without a header, or with
 * one that S3 ignores.
 * @throws S3Error 416 InvalidRange
 */
export function parseRange(header: string | undefined, size: number): Range | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  const [, first, last] = match as unknown as [string, string, string];
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  if (start >= size || (first === "" && Number(last) === 0)) {
    throw new S3Error(416, "InvalidRange", "The requested range is not satisfiable", {
      extra: { RangeRequested: header!, ActualObjectSize: String(size) },
      headers: { "content-range": `bytes */${size}` },
    });
  }
  return { start, end };
}
