import { allocateSum, inSumMemory, kernelsInSumMemory, releaseSum, sumMemoryBuffer } from "../../kernels/sum-memory";
import { Simd, simdFunctions } from "../../tfjs/simd/simd";

let simd: Simd | undefined;

/** Returns the kernels over the memory of leaves, so that gradients are computed where they are summed; `undefined` without it. */
export function simdInSumMemory(): Simd | undefined {
  simd ??= create();
  return simd;
}

function create(): Simd | undefined {
  const call = kernelsInSumMemory(simdFunctions);
  if (!call) return undefined;
  const held = new Map<number, Float32Array>();
  const first = allocateSum(1); // never released: address 0 would read as a failure
  const heap = {
    _malloc(bytes: number): number {
      const block = allocateSum(Math.ceil(bytes / Float32Array.BYTES_PER_ELEMENT));
      if (!inSumMemory(block)) return 0;
      held.set(block.byteOffset, block);
      return block.byteOffset;
    },
    _free(at: number): void {
      const block = held.get(at);
      if (block) releaseSum(block);
      held.delete(at);
    },
  };
  return new Simd(call, heap, () => sumMemoryBuffer() ?? first.buffer, inSumMemory);
}
