import { createHash } from "node:crypto";

/** Lowercase hex SHA-256. */
export function sha256(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}

/**
 * JSON with sorted keys and no white space: equal values give equal text, whatever the order their keys were written in.
 * `undefined` members vanish as in JSON; other values must be JSON's.
 */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}

/** Digest of a JSON value, by its canonical text. */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}
