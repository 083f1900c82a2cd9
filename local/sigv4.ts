import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** AWS takes signatures of the last and the next five minutes. */
const skewMs = 5 * 60_000;
const algorithm = "AWS4-HMAC-SHA256";

/** What of a request its signature is made of, as it came over the wire. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** What the header says; nothing of it is checked yet. */
export interface SignatureClaim {
  readonly accessKeyId: string;
  /** `<date>/<region>/execute-api/aws4_request` */
  readonly scope: readonly [date: string, region: string, service: string, terminator: string];
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** `20150830T123600Z` */
  readonly time: string;
  /** SHA-256 of the body by `x-amz-content-sha256`; where it is absent the body's own. */
  readonly payload: string | undefined;
}

/** Whether the header speaks of a signature at all. */
export function isSignature(authorization: string | undefined): boolean {
  return authorization?.startsWith(`${algorithm} `) ?? false;
}

/**
 * Reads a signature of AWS Signature Version 4 in the header
 * (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 *
 * @returns why it is none, as a text
 */
export function readSignature({ headers }: SignedRequest, now: number): SignatureClaim | string {
  const fields = new Map(
    (headers.authorization ?? "")
      .slice(algorithm.length)
      .split(",")
      .map((field) => field.trim().split("=", 2) as [string, string | undefined]),
  );
  const [accessKeyId, ...scope] = fields.get("Credential")?.split("/") ?? [];
  const signedHeaders = fields.get("SignedHeaders")?.split(";") ?? [];
  const signature = fields.get("Signature") ?? "";
  if (!accessKeyId || scope.length !== 4 || !/^[0-9a-f]{64}$/.test(signature)) {
    return "the Authorization header is not an AWS Signature Version 4: it must have Credential, SignedHeaders and Signature";
  }
  const [date, , service, terminator] = scope as [string, string, string, string];
  if (service !== "execute-api" || terminator !== "aws4_request") {
    return `the request is signed for ${service}: sign it for execute-api`;
  }
  const time = String(headers["x-amz-date"] ?? "");
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time)?.map(Number) ?? [];
  if (parts.length !== 6 || !time.startsWith(date))
    return "x-amz-date is missing, or differs from the date of the credential scope";
  const [year, month, ...rest] = parts as [number, number, number, number, number, number];
  if (Math.abs(Date.UTC(year, month - 1, ...rest) - now) > skewMs) {
    return `the signature was made at ${time}, more than 5 minutes from now (${amzTime(now)}): set the caller's clock`;
  }
  const unsigned = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))].filter(
    (name) => !signedHeaders.includes(name),
  );
  if (unsigned.length > 0) return `the signature does not cover ${unsigned.join(", ")}`;
  const payload = headers["x-amz-content-sha256"];
  if (payload !== undefined && !/^[0-9a-f]{64}$/.test(String(payload))) {
    return "x-amz-content-sha256 must be the body's SHA-256, because an unsigned body is not accepted";
  }
  return {
    accessKeyId,
    scope: scope as unknown as SignatureClaim["scope"],
    signedHeaders,
    signature,
    time,
    payload: payload === undefined ? undefined : String(payload),
  };
}

/** In constant time. @param payload the body's SHA-256, as lower-case hex */
export function signatureMatches(
  request: SignedRequest,
  { scope, signedHeaders, signature, time }: SignatureClaim,
  payload: string,
  secretAccessKey: string,
): boolean {
  const key = scope.reduce<Buffer>((previous, part) => hmac(previous, part), Buffer.from(`AWS4${secretAccessKey}`));
  const given = Buffer.from(signature, "hex");
  const question = request.url.indexOf("?");
  const path = question < 0 ? request.url : request.url.slice(0, question);
  const query = question < 0 ? "" : request.url.slice(question + 1);
  let known = false;
  for (const [canonicalPath, canonicalQuery] of canonicalForms(path, query)) {
    const canonical = [
      request.method,
      canonicalPath,
      canonicalQuery,
      ...signedHeaders.map((name) => `${name}:${headerOf(request.headers, name)}`),
      "",
      signedHeaders.join(";"),
      payload,
    ].join("\n");
    const toSign = [algorithm, time, scope.join("/"), sha256(canonical)].join("\n");
    known = timingSafeEqual(hmac(key, toSign), given) || known;
  }
  return known;
}

export function sha256(body: string | Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

/** As the standard has it, and as requests-auth-aws-sigv4 signs for MLflow's clients: as it is on the wire, but for the order of the query. */
function canonicalForms(path: string, query: string): readonly (readonly [path: string, query: string])[] {
  const paths = new Set([path.split("/").map(encode).join("/"), path]);
  const queries = new Set([standardQuery(query), query.split("&").sort().join("&")]);
  return [...paths].flatMap((one) => [...queries].map((other) => [one, other] as const));
}

function standardQuery(query: string): string {
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => [encode(name), encode(value)] as const);
  return pairs
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function headerOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return [value ?? ""].flat().join(",").trim().replaceAll(/ +/g, " ");
}

/** As RFC 3986 has it, which leaves fewer characters as they are than JavaScript does. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function amzTime(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
}
