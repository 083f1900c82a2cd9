import { createHash, timingSafeEqual } from "node:crypto";

/** What is kept of a token: enough to know it again, not to make it. */
export interface TokenRecord {
  readonly id: string;
  readonly team: string;
  readonly actor: string;
  /** Of the secret part, lower-case hex. */
  readonly sha256: string;
  readonly createdAt: string;
}

/** A token is the id, by which its record is found, and the secret, by which it is known: `rmt-<12 hex>-<43 base64url>`. */
const shape = /^rmt-([0-9a-f]{12})-([\w-]{43})$/;

/**
 * @param random 38 bytes: the first 6 name the token, the other 32 are its secret.
 * @returns the token, to be shown once, and its record.
 */
export function makeToken(
  owner: Pick<TokenRecord, "team" | "actor" | "createdAt">,
  random: Uint8Array,
): { readonly token: string; readonly record: TokenRecord } {
  const bytes = Buffer.from(random);
  const id = bytes.subarray(0, 6).toString("hex");
  const secret = bytes.subarray(6, 38).toString("base64url");
  return { token: `rmt-${id}-${secret}`, record: { id, ...owner, sha256: digestOf(secret).toString("hex") } };
}

/** The id of whatever was presented, `undefined` where it is no token. */
export function tokenIdOf(token: string): string | undefined {
  return shape.exec(token)?.[1];
}

/** Compared in constant time, by digest. */
export function tokenMatches(token: string, record: TokenRecord): boolean {
  const secret = shape.exec(token)?.[2];
  const expected = Buffer.from(record.sha256, "hex");
  return secret !== undefined && expected.length === 32 && timingSafeEqual(digestOf(secret), expected);
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
