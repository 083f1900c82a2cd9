import { createHmac, timingSafeEqual } from "node:crypto";
import type { SignedRequest } from "./claim";

/**
 * The parameters that the signature covers. A request with any other parameter is refused, because the signature would
 * not cover it.
 */
const covered = new Set([
  ...[
    "response-cache-control",
    "response-content-disposition",
    "response-content-encoding",
    "response-content-language",
  ],
  ...["response-content-type", "response-expires", "partNumber", "uploadId", "uploads", "tagging", "versionId"],
]);

/** A presigned URL of Signature Version 2. The AWS CLI 1 and boto3 create it by default for S3 in this region. */
export interface Version2Claim {
  readonly accessKeyId: string;
  readonly sessionToken: string | undefined;
  readonly signature: string;
  /** The expiry in milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly toSign: string;
}

/**
 * Reads such a URL (docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html, "Query string request
 * authentication").
 *
 * @returns `undefined` if the request has no such signature, or a parameter that the signature does not cover
 */
export function readVersion2({ method, url, headers }: SignedRequest): Version2Claim | undefined {
  const [path = "", search = ""] = url.split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  const [accessKeyId, signature, expires] = ["AWSAccessKeyId", "Signature", "Expires"].map((name) => query.get(name));
  if (!accessKeyId || !signature || !/^\d{1,12}$/.test(expires ?? "")) return undefined;
  const subresources: string[] = [];
  const amz = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith("x-amz-") ? [[name, [value ?? ""].flat().join(",")] as const] : [],
  );
  for (const [name, value] of query) {
    if (name === "AWSAccessKeyId" || name === "Signature" || name === "Expires") continue;
    if (name.startsWith("x-amz-")) amz.push([name, value]);
    else if (covered.has(name)) subresources.push(value === "" ? name : `${name}=${value}`);
    else return undefined;
  }
  const lines = amz.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}:${value.trim()}\n`);
  const bucket = /^(.+)\.localhost(?::\d+)?$/i.exec(headers.host ?? "")?.[1];
  const resource = `${bucket === undefined ? "" : `/${bucket}`}${path}`;
  const suffix = subresources.length > 0 ? `?${subresources.sort().join("&")}` : "";
  const body = `${headers["content-md5"] ?? ""}\n${headers["content-type"] ?? ""}`;
  return {
    accessKeyId,
    sessionToken: query.get("x-amz-security-token") ?? undefined,
    signature,
    expiresAt: Number(expires) * 1000,
    toSign: `${method}\n${body}\n${expires}\n${lines.join("")}${resource}${suffix}`,
  };
}

/** Compares the signatures in constant time. */
export function version2Matches({ toSign, signature }: Version2Claim, secretAccessKey: string): boolean {
  const expected = createHmac("sha1", secretAccessKey).update(toSign).digest();
  const given = Buffer.from(signature, "base64");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
