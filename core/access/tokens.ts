import { createHash, timingSafeEqual } from "node:crypto";
import type { Scope } from "./scopes";

/** What is kept of a token: enough to know it again, not to make it. */
export interface TokenRecord {
  readonly id: string;
  readonly team: string;
  readonly actor: string;
  /** Of the secret part, lower-case hex. */
  readonly sha256: string;
  readonly createdAt: string;
  /** ISO 8601. Absent in tokens of earlier releases, which do not expire. */
  readonly expiresAt?: string;
  /** Absent in tokens of earlier releases, which have all. */
  readonly scopes?: readonly Scope[];
}

const msPerHour = 3_600_000;
/** Lifetimes for `--expires`, in hours. */
export const tokenLifetimes = { default: 90 * 24, longest: 366 * 24 } as const;

/** Reads a lifetime, `12h` or `30d`. @returns hours, or `undefined` where it is none or out of bounds */
export function readLifetime(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  const hours = Number(count) * (unit === "d" ? 24 : 1);
  return count !== undefined && hours <= tokenLifetimes.longest ? hours : undefined;
}

export function expiryOf(createdAt: number, hours: number): string {
  return new Date(createdAt + hours * msPerHour).toISOString();
}

/** @param now milliseconds since the epoch; an expiry that cannot be read has passed */
export function isExpired({ expiresAt }: Pick<TokenRecord, "expiresAt">, now: number): boolean {
  return expiresAt !== undefined && !(now < Date.parse(expiresAt));
}

/** A token is the id, by which its record is found, and the secret, by which it is known: `rmt-<12 hex>-<43 base64url>`. */
const shape = /^rmt-([0-9a-f]{12})-([\w-]{43})$/;

/**
 * @param random 38 bytes: the first 6 name the token, the other 32 are its secret.
 * @returns the token, to be shown once, and its record.
 */
export function makeToken(
  owner: Omit<TokenRecord, "id" | "sha256">,
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
