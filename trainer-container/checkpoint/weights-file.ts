import { encodeSafetensors, type SafetensorsTensor } from "../../core/training/safetensors";
import type { ParameterSlot } from "../engine/engine";

/** `weights.safetensors`: all parameters by name and nothing else, so that its digest is the digest of the weights. */
export function encodeWeights(layout: readonly ParameterSlot[], weights: Float32Array): Uint8Array {
  return encodeSafetensors({ tensors: tensorsOf(layout, weights) });
}

/** Views of `buffer`, by parameter name. */
export function tensorsOf(
  slots: readonly ParameterSlot[],
  buffer: Float32Array,
): Readonly<Record<string, SafetensorsTensor>> {
  return Object.fromEntries(
    slots.map(({ name, shape, offset, size }) => [
      name,
      { dtype: "F32" as const, shape, data: buffer.subarray(offset, offset + size) },
    ]),
  );
}

/** Off the main thread: Node hands it to its pool. */
export async function digestAside(content: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString("hex");
}
