import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Sha256 } from "@smithy/core/checksum";
import { escapeUri, escapeUriPath } from "@smithy/core/protocols";
import { getSigningKey } from "@smithy/signature-v4";
import { BoundedMap } from "../bounded-map";
import { algorithm, type SignatureClaim, type SignedRequest } from "./claim";

/**
 * The canonical form of path and query for a service. `standard` encodes the encoded path again, but S3 does not.
 * `lenient` also accepts path and query as received, because requests-auth-aws-sigv4 signs them in this form for
 * MLflow's clients.
 */
export type Canonicalization = "standard" | "s3" | "lenient";

/**
 * Compares a request's signature with the signature by its secret key, in constant time. Amazon's library derives the
 * key and encodes text. The other steps are written here: those of the library cost more processor time, leave
 * parameters out of the query, or have no form for what was received (ADR 039).
 *
 * @param payload the body's SHA-256 in lower-case hex, or the text that replaces it
 */
export async function signatureMatches(
  request: SignedRequest,
  claim: SignatureClaim,
  payload: string,
  secretAccessKey: string,
  canonicalization: Canonicalization,
): Promise<boolean> {
  const { scope, signedHeaders, signature, time } = claim;
  const key = await signingKey(secretAccessKey, claim);
  const bytes = Buffer.from(signature, "hex");
  const headers = signedHeaders.map((name) => `${name}:${headerOf(request.headers, name)}\n`).join("");
  const rest = `${headers}\n${signedHeaders.join(";")}\n${payload}`;
  let hasKey = false;
  for (const target of canonicalTargets(request.url, claim.presigned, canonicalization)) {
    const canonical = `${request.method}\n${target}\n${rest}`;
    const toSign = `${algorithm}\n${time}\n${scope.join("/")}\n${hash("sha256", canonical, "hex")}`;
    hasKey = timingSafeEqual(hmac(key, toSign), bytes) || hasKey;
  }
  return hasKey;
}

const keys = new BoundedMap<string, Uint8Array>(1_000);

/**
 * Derives the key that signs on one day, in one region, for one service. Keys are cached, because the library's cache
 * holds 50 keys and computes an HMAC for each look-up.
 */
export async function signingKey(
  secretAccessKey: string,
  { accessKeyId, scope }: Pick<SignatureClaim, "accessKeyId" | "scope">,
): Promise<Uint8Array> {
  const name = `${secretAccessKey} ${scope.join("/")}`;
  const cachedKey = keys.get(name);
  if (cachedKey) return cachedKey;
  const [date, region, service] = scope;
  const key = await getSigningKey(Sha256, { accessKeyId, secretAccessKey }, date, region, service);
  keys.set(name, key);
  return key;
}

export function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function canonicalTargets(url: string, presigned: boolean, canonicalization: Canonicalization): readonly string[] {
  if (url === "/") return ["/\n"];
  const question = url.indexOf("?");
  const path = question < 0 ? url : url.slice(0, question);
  const query = question < 0 ? "" : url.slice(question + 1);
  const standard = standardQuery(query, presigned);
  // Unlike the signer, this keeps empty and dot segments: a signature is valid for one spelling of the path.
  const encoded = canonicalization === "s3" ? singleEncoded(path) : escapeUriPath(path);
  if (canonicalization !== "lenient") return [`${encoded}\n${standard}`];
  const queries = new Set([standard, query.split("&").sort().join("&")]);
  return [...new Set([encoded, path])].flatMap((one) => [...queries].map((other) => `${one}\n${other}`));
}

function singleEncoded(path: string): string {
  try {
    return path
      .split("/")
      .map((part) => escapeUri(decodeURIComponent(part)))
      .join("/");
  } catch {
    return path;
  }
}

function standardQuery(query: string, presigned: boolean): string {
  if (query === "") return "";
  const pairs = [...new URLSearchParams(query)]
    .filter(([name]) => !presigned || name !== "X-Amz-Signature")
    .map(([name, value]) => [escapeUri(name), escapeUri(value)] as const);
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
