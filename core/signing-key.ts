import { hkdfSync } from "node:crypto";
import { objectKeys } from "./object-keys";
import type { ObjectStore } from "./ports";

const keyBytes = 32;

/**
 * Derives the key that signs messages to one receiver. A team has one root of 32 random bytes in the bucket, created
 * when it is first needed; keys are derived from it (HKDF, RFC 5869). No row and no policy has a secret, and one
 * receiver's key reveals nothing about another's.
 * @param randomBytes new random bytes for a new root
 * @param purpose distinguishes the key from the team's other keys
 */
export async function signingKey(
  objects: ObjectStore,
  randomBytes: (count: number) => Uint8Array,
  purpose: readonly (string | number)[],
): Promise<Uint8Array> {
  const key = objectKeys.signingRoot();
  const root = (await objects.find(key)) ?? (await makeRoot(objects, key, randomBytes));
  return new Uint8Array(hkdfSync("sha256", root, new Uint8Array(0), JSON.stringify(purpose), keyBytes));
}

async function makeRoot(
  objects: ObjectStore,
  key: string,
  randomBytes: (count: number) => Uint8Array,
): Promise<Uint8Array> {
  const newKey = randomBytes(keyBytes);
  return (await objects.putNew(key, newKey, "application/octet-stream")) ? newKey : objects.get(key);
}

/** Formats a key for receivers' libraries (https://www.standardwebhooks.com). */
export function keyText(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString("base64")}`;
}
