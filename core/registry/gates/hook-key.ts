import type { ObjectStore } from "../../ports";
import { signingKey } from "../../signing-key";

/** Derives the key that signs one check's requests, from model, check and generation. */
export function hookKey(
  objects: ObjectStore,
  randomBytes: (count: number) => Uint8Array,
  of: { readonly model: string; readonly check: string; readonly generation: number },
): Promise<Uint8Array> {
  return signingKey(objects, randomBytes, ["ringmaster.check", of.model, of.check, of.generation]);
}
