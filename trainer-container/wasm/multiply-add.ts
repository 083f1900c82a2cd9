import { f32x4, local } from "./instructions";
import { createMemory, instantiate, type WasmFunction } from "./module";

/**
 * `fused` rounds once and takes half the instructions; `apart` rounds twice, where the process has no choice. Bits
 * differ.
 */
export type MultiplyAdd = "fused" | "apart";

let cached: MultiplyAdd | undefined;

export function multiplyAdd(): MultiplyAdd {
  cached ??= probe();
  return cached;
}

/** (1 + 2⁻¹²)² − 1 is 2⁻¹¹ + 2⁻²⁴, and rounding the product first loses the second term. */
function probe(): MultiplyAdd {
  const [a, b, c] = [0, 1, 2].map((index) => f32x4.splat(local.get(index))) as [number[], number[], number[]];
  const product: WasmFunction = {
    name: "product",
    params: ["f32", "f32", "f32"],
    result: "f32",
    body: [f32x4.extractLane(f32x4.relaxedMultiplyAdd(a, b, c), 0)],
  };
  const memory = { initial: 0, maximum: 0, shared: false };
  try {
    const { product: run } = instantiate([product], memory, createMemory(memory));
    return run?.(1 + 2 ** -12, 1 + 2 ** -12, -1) === 2 ** -11 + 2 ** -24 ? "fused" : "apart";
  } catch {
    return "apart";
  }
}
