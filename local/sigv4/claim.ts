import type { IncomingHttpHeaders } from "node:http";

const maxSkewMs = 5 * 60_000;
const maxExpires = 604_800;
export const algorithm = "AWS4-HMAC-SHA256";

export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface SignatureClaim {
  readonly accessKeyId: string;
  /** The scope `<date>/<region>/<service>/aws4_request`. */
  readonly scope: readonly [date: string, region: string, service: string, terminator: string];
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly time: string;
  /**
   * The header `x-amz-content-sha256`: a digest, `UNSIGNED-PAYLOAD` or `STREAMING-…`. `undefined` if the request has no
   * such header.
   */
  readonly payload: string | undefined;
  readonly sessionToken: string | undefined;
  readonly presigned: boolean;
  readonly expires?: string | null;
}

export type ProblemKind = "missing" | "incomplete" | "skewed" | "expired";

export interface SignatureProblem {
  readonly kind: ProblemKind;
  readonly message: string;
}

export function isSignature(authorization: string | undefined): boolean {
  return authorization?.startsWith(`${algorithm} `) ?? false;
}

/**
 * Reads a signature of AWS Signature Version 4 from the header or the query
 * (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 */
export function readClaim({ headers, url }: SignedRequest): SignatureClaim | SignatureProblem {
  const query = new URLSearchParams(url.includes("X-Amz-") ? url.slice(url.indexOf("?") + 1) : "");
  const presigned = query.has("X-Amz-Signature") || query.has("X-Amz-Algorithm");
  if (headers.authorization === undefined && !presigned) {
    return {
      kind: "missing",
      message: "the request is not signed: sign it with the keys that `ringmaster env` prints",
    };
  }
  if (headers.authorization !== undefined && presigned) {
    return incomplete("the request has a signature in the Authorization header and one in the query: send one of them");
  }
  return presigned ? presignedClaim(query, headers) : headerClaim(headers);
}

function headerClaim(headers: IncomingHttpHeaders): SignatureClaim | SignatureProblem {
  const { authorization } = headers;
  if (!isSignature(authorization)) return incomplete(`the Authorization header must begin with ${algorithm}`);
  const fields = new Map(
    authorization!
      .slice(algorithm.length)
      .split(",")
      .map((field) => field.trim().split("=", 2) as [string, string | undefined]),
  );
  const credential = credentialOf(fields.get("Credential"));
  const signature = fields.get("Signature") ?? "";
  const signedHeaders = fields.get("SignedHeaders")?.split(";") ?? [];
  if (!credential || !/^[0-9a-f]{64}$/.test(signature)) {
    return incomplete(
      "the Authorization header is not an AWS Signature Version 4: it must have Credential, SignedHeaders and Signature",
    );
  }
  return {
    ...credential,
    signedHeaders,
    signature,
    time: String(headers["x-amz-date"] ?? ""),
    payload: textOf(headers["x-amz-content-sha256"]),
    sessionToken: textOf(headers["x-amz-security-token"]),
    presigned: false,
  };
}

function presignedClaim(query: URLSearchParams, headers: IncomingHttpHeaders): SignatureClaim | SignatureProblem {
  const credential = credentialOf(query.get("X-Amz-Credential") ?? undefined);
  const signature = query.get("X-Amz-Signature") ?? "";
  if (query.get("X-Amz-Algorithm") !== algorithm || !credential || !/^[0-9a-f]{64}$/.test(signature)) {
    return incomplete(
      `the query is not a presigned URL: it must have X-Amz-Algorithm=${algorithm}, X-Amz-Credential, X-Amz-Date, X-Amz-Expires, X-Amz-SignedHeaders and X-Amz-Signature`,
    );
  }
  return {
    ...credential,
    signedHeaders: query.get("X-Amz-SignedHeaders")?.split(";") ?? [],
    signature,
    time: query.get("X-Amz-Date") ?? "",
    payload: query.get("X-Amz-Content-Sha256") ?? textOf(headers["x-amz-content-sha256"]),
    sessionToken: query.get("X-Amz-Security-Token") ?? textOf(headers["x-amz-security-token"]),
    presigned: true,
    expires: query.get("X-Amz-Expires"),
  };
}

function credentialOf(text: string | undefined): Pick<SignatureClaim, "accessKeyId" | "scope"> | undefined {
  const [accessKeyId, ...scope] = text?.split("/") ?? [];
  if (!accessKeyId || scope.length !== 4 || scope[3] !== "aws4_request") return undefined;
  return { accessKeyId, scope: scope as unknown as SignatureClaim["scope"] };
}

/**
 * Checks the time of a signature, and that it covers the host and every `x-amz-` header.
 *
 * @param now milliseconds since the epoch
 */
export function checkClaim(
  { headers }: SignedRequest,
  { scope, signedHeaders, time, expires }: SignatureClaim,
  now: number,
): SignatureProblem | undefined {
  const signedAt = millisecondsOf(time);
  if (signedAt === undefined || !time.startsWith(scope[0])) {
    return incomplete("X-Amz-Date is missing, or differs from the date of the credential scope");
  }
  if (expires !== undefined) {
    const seconds = Number(expires ?? Number.NaN);
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxExpires) {
      return incomplete(`X-Amz-Expires is ${expires}, but must be from 1 to ${maxExpires} seconds`);
    }
    if (now > signedAt + seconds * 1000)
      return { kind: "expired", message: `the URL expired ${seconds} s after ${time}` };
  }
  const age = now - signedAt;
  if (age < -maxSkewMs || (expires === undefined && age > maxSkewMs)) {
    const message = `the signature was made at ${time}, more than 5 minutes from now (${amzTime(now)}): set the caller's clock`;
    return { kind: "skewed", message };
  }
  const unsigned = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))].filter(
    (name) => !signedHeaders.includes(name),
  );
  return unsigned.length > 0 ? incomplete(`the signature does not cover ${unsigned.join(", ")}`) : undefined;
}

function millisecondsOf(time: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second] = match.map(Number) as [number, ...Six];
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

type Six = [number, number, number, number, number, number];

const incomplete = (message: string): SignatureProblem => ({ kind: "incomplete", message });

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function amzTime(now: number): string {
  return new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
}
