import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Caller } from "../iam/caller";
import { invalidRequest, S3Error } from "./errors";
import type { FolderCache } from "./listing";
import type { Announcement, Notifications, ObjectEventType } from "./notifications";
import type { ObjectRecord } from "./record";
import type { Store } from "./store";
import type { Uploads } from "./uploads";
import { writeXml, type XmlFields } from "./xml";

export type ContentRule = (key: string) => string | undefined;

export interface Context {
  readonly store: Store;
  readonly uploads: Uploads;
  readonly folders: FolderCache;
  readonly notifications: Notifications;
  readonly contentDigest: ContentRule;
}

export interface Call extends Context {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  /** The caller with temporary keys. Undefined for the owner. */
  readonly caller: Caller | undefined;
}

export interface Address {
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
}

/**
 * Parses the bucket, key and query of a request, either path-style or virtual-hosted (the host begins with the bucket's
 * name). The path is not normalized: `a//b` and `../x` are keys.
 */
export function parseAddress(request: IncomingMessage): Address {
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?]*/, "");
  const question = target.indexOf("?");
  const rawPath = (question < 0 ? target : target.slice(0, question)).replace(/^\//, "");
  const query = new URLSearchParams(question < 0 ? "" : target.slice(question + 1));
  const hosted = bucketOfHost(request.headers.host ?? "");
  if (hosted !== undefined) return { bucket: hosted, key: decode(rawPath), query };
  const slash = rawPath.indexOf("/");
  const bucket = decode(slash < 0 ? rawPath : rawPath.slice(0, slash));
  return { bucket, key: slash < 0 ? "" : decode(rawPath.slice(slash + 1)), query };
}

/**
 * Returns the bucket in a host name: `models.localhost:4566`, `models.s3.localhost`,
 * `models.s3.us-east-1.amazonaws.com` → `models`.
 */
function bucketOfHost(host: string): string | undefined {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return (
    /^(.+?)\.(?:s3[.-][a-z0-9.-]*|s3\.)?(?:localhost|amazonaws\.com)$/
      .exec(name)?.[1]
      ?.replace(/^s3(?:[.-].*)?$/, "") || undefined
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error(400, "InvalidURI", "Couldn't parse the specified URI.");
  }
}

export function respond(
  call: Call,
  status: number,
  headers: OutgoingHttpHeaders = {},
  body?: string | Uint8Array,
): void {
  const { response } = call;
  if (body !== undefined) headers["content-length"] = Buffer.byteLength(body);
  else if (status !== 204 && status !== 304) headers["content-length"] ??= 0;
  response.writeHead(status, headers);
  response.end(call.request.method === "HEAD" ? undefined : body);
}

export function respondXml(call: Call, root: string, fields: XmlFields, headers: OutgoingHttpHeaders = {}): void {
  respond(call, 200, { ...headers, "content-type": "application/xml" }, writeXml(root, fields));
}

export function respondError(call: Call, error: S3Error): void {
  const { response, request } = call;
  if (response.headersSent) {
    response.destroy(); // Part of the body is already sent, so only a closed connection can report the error.
    return;
  }
  const headers = { ...error.headers, "content-type": "application/xml" };
  const body = writeXml("Error", {
    Code: error.code,
    Message: error.message,
    ...error.extra,
    Resource: `/${call.bucket}${call.key && `/${call.key}`}`,
    RequestId: call.requestId,
  });
  respond(call, error.httpStatus, headers, body);
  // Reads and drops the rest of the request's body, so that a client that is still sending can read the answer.
  request.resume();
}

/** Reads a whole number from the query. A number above `max` counts as `max`. @throws S3Error 400 InvalidArgument */
export function queryNumber(query: URLSearchParams, name: string, fallback: number, max: number): number {
  const text = query.get(name);
  if (text === null || text === "") return fallback;
  if (!/^\d+$/.test(text)) {
    throw new S3Error(400, "InvalidArgument", `Provided ${name} not an integer or within integer range`, {
      extra: { ArgumentName: name, ArgumentValue: text },
    });
  }
  return Math.min(Number(text), max);
}

export function requireQuery(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null || value === "") throw invalidRequest(`Missing the required parameter ${name}.`);
  return value;
}

export function announce(
  call: Call,
  type: ObjectEventType,
  object: { readonly key: string; readonly reason: string; readonly record?: ObjectRecord },
): Announcement {
  const { key, reason, record } = object;
  return call.notifications.announce({
    type,
    bucket: call.bucket,
    key,
    reason,
    requestId: call.requestId,
    sourceAddress: call.request.socket.remoteAddress ?? "127.0.0.1",
    ...(record ? { size: record.size, etag: record.etag, writeId: record.writeId } : {}),
  });
}
