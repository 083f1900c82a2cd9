import { createHash, createHmac } from "node:crypto";
import type { OutgoingRequest } from "./transport";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface SigningScope {
  readonly region: string;
  /** `execute-api` behind API Gateway. */
  readonly service: string;
  /** Milliseconds since the epoch; AWS takes signatures of the last five minutes. */
  readonly now: number;
}

/**
 * The headers that make a request one of AWS Signature Version 4
 * (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Every header given is signed, and the host.
 */
export function signRequest(
  { method, url, headers, body }: OutgoingRequest,
  { accessKeyId, secretAccessKey, sessionToken }: Credentials,
  { region, service, now }: SigningScope,
): Readonly<Record<string, string>> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, ""); // 20150830T123600Z
  const date = time.slice(0, 8);
  const added = {
    "x-amz-date": time,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const signed = Object.entries({ host: url.host, ...headers, ...added })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/g, " ")] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname.split("/").map(encode).join("/"),
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value}`),
    "",
    names,
    sha256(body ?? ""),
  ].join("\n");
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [date, region, service, "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, toSign).toString("hex");
  return {
    ...added,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function canonicalQuery(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]) => [encode(name), encode(value)] as const);
  return pairs
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** RFC 3986: all but unreserved characters. The path is encoded once more than it is sent, as every service but S3 wants it. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
