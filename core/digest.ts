import { hash } from "node:crypto";

export function sha256(content: Uint8Array | string): string {
  return hash("sha256", content, "hex");
}

/** JSON with sorted keys and without white space: equal values give equal text. `undefined` members are omitted. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}

export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}
