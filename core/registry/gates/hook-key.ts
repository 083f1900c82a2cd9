import { hkdfSync } from "node:crypto";
import { objectKeys } from "../../platform/object-keys";
import type { ObjectStore } from "../../ports";

const rootBytes = 32;

/**
 * The key that signs one check's questions. A team has one root, 32 random bytes in the bucket, made when it is first needed; keys are derived of it (HKDF, RFC 5869) by model,
 * check and generation. So no row and no policy holds a secret, and one receiver's key says nothing about another's.
 *
 * @param randomBytes fresh ones; used by whoever is first
 */
export async function hookKey(
  objects: ObjectStore,
  randomBytes: (count: number) => Uint8Array,
  of: { readonly model: string; readonly check: string; readonly generation: number },
): Promise<Uint8Array> {
  const key = objectKeys.hookRoot();
  const root = (await objects.find(key)) ?? (await makeRoot(objects, key, randomBytes));
  const info = JSON.stringify(["ringmaster.check", of.model, of.check, of.generation]);
  return new Uint8Array(hkdfSync("sha256", root, new Uint8Array(0), info, rootBytes));
}

async function makeRoot(
  objects: ObjectStore,
  key: string,
  randomBytes: (count: number) => Uint8Array,
): Promise<Uint8Array> {
  const made = randomBytes(rootBytes);
  return (await objects.putNew(key, made, "application/octet-stream")) ? made : objects.get(key);
}

/** As receivers' libraries take it (https://www.standardwebhooks.com). */
export function keyText(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString("base64")}`;
}
