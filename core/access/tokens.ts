import { createHash, timingSafeEqual } from "node:crypto";
import { insufficientScope } from "./errors";

/**
 * The operations that a token permits. `read`: operations that change nothing. `approve`: decisions on what serves
 * (approvals, stages, rollbacks, policies, traffic) and the keys that sign a policy's hooks. `write`: every other
 * change.
 */
export const scopes = ["read", "write", "approve"] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of a token that is created without `--scope`: enough for programs that train and log. */
export const defaultScopes: readonly Scope[] = ["read", "write"];

/** Returns the known scopes of a list. Other scopes, such as OpenID Connect's own, are ignored. */
export function knownScopes(names: readonly string[]): readonly Scope[] {
  return scopes.filter((scope) => names.includes(scope));
}

/**
 * Throws unless the scope is granted.
 * @param granted `undefined` if the caller's credentials have no scopes: IAM, and tokens that name none of this API's
 * scopes
 * @throws INSUFFICIENT_SCOPE
 */
export function requireScope(
  caller: { readonly actor: string; readonly granted: readonly Scope[] | undefined },
  operation: string,
  required: Scope,
): void {
  if (caller.granted === undefined || caller.granted.includes(required)) return;
  throw insufficientScope(caller.actor, operation, required, caller.granted);
}

/** The stored record of a token. The token can be verified with it, but not derived from it. */
export interface TokenRecord {
  readonly id: string;
  readonly team: string;
  readonly actor: string;
  /** SHA-256 of the secret part, lower-case hex. */
  readonly sha256: string;
  readonly createdAt: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly scopes: readonly Scope[];
}

const msPerHour = 3_600_000;
/** Lifetimes for `--expires`, in hours. */
export const tokenLifetimes = { default: 90 * 24, max: 366 * 24 } as const;

/** Reads `12h` or `30d` as hours; `undefined` if the text is no lifetime or out of bounds. */
export function readLifetime(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,4})([hd])$/.exec(text) ?? [];
  const hours = Number(count) * (unit === "d" ? 24 : 1);
  return count !== undefined && hours <= tokenLifetimes.max ? hours : undefined;
}

export function expiryOf(createdAt: number, hours: number): string {
  return new Date(createdAt + hours * msPerHour).toISOString();
}

/** An expiry that cannot be parsed counts as expired. @param now milliseconds since the epoch */
export function isExpired({ expiresAt }: Pick<TokenRecord, "expiresAt">, now: number): boolean {
  return expiresAt !== undefined && !(now < Date.parse(expiresAt));
}

/** `rmt-<12 hex>-<43 base64url>`: the id, by which the record is found, and the secret, which authenticates. */
const shape = /^rmt-([0-9a-f]{12})-([\w-]{43})$/;

/**
 * Makes a token.
 * @param random 38 bytes: the first 6 become the id, the other 32 the secret
 * @returns the token, which is shown once, and its record
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

/** Returns the id part of a presented token; `undefined` if the text does not have a token's form. */
export function tokenIdOf(token: string): string | undefined {
  return shape.exec(token)?.[1];
}

/** Compares digests in constant time. */
export function tokenMatches(token: string, record: TokenRecord): boolean {
  const secret = shape.exec(token)?.[2];
  const expected = Buffer.from(record.sha256, "hex");
  return secret !== undefined && expected.length === 32 && timingSafeEqual(digestOf(secret), expected);
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
