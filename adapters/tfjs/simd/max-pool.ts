import type { backend_util } from "@tensorflow/tfjs-core";
import type { Simd } from "./simd";

export type PoolInfo = backend_util.Conv2DInfo;

const float = 4;

/**
 * Returns whether the SIMD kernels apply: all windows are inside the image, and the number of channels is a multiple of
 * four.
 */
export function isWhole(info: PoolInfo): boolean {
  const { top, bottom, left, right } = info.padInfo;
  return (
    info.inChannels % 4 === 0 &&
    top + bottom + left + right === 0 &&
    (info.outHeight - 1) * info.strideHeight + info.filterHeight <= info.inHeight &&
    (info.outWidth - 1) * info.strideWidth + info.filterWidth <= info.inWidth
  );
}

/**
 * Calls `visit` for each row of outputs with the offsets of its first window and output, and the kernels' last
 * operands.
 */
function forEachRow(
  simd: Simd,
  info: PoolInfo,
  visit: (input: number, output: number, rest: readonly number[]) => void,
): void {
  const pixel = info.inChannels * float;
  const row = info.inWidth * pixel;
  const size = info.filterHeight * info.filterWidth;
  const offsets = new Int32Array(size).map(
    (_, i) => Math.floor(i / info.filterWidth) * row + (i % info.filterWidth) * pixel,
  );
  const taps = simd.table("taps", offsets);
  const rest = [info.outWidth, info.strideWidth * pixel, pixel, taps, taps + size * float];
  for (let n = 0; n < info.batchSize; n++) {
    for (let oh = 0; oh < info.outHeight; oh++) {
      const input = (n * info.inHeight + oh * info.strideHeight) * row;
      visit(input, (n * info.outHeight + oh) * info.outWidth * pixel, rest);
    }
  }
}

/** Max-pools NHWC images. `x` and `y` are addresses. */
export function maxPool(simd: Simd, info: PoolInfo, x: number, y: number): void {
  const pool = simd.call["maxPool"]!;
  forEachRow(simd, info, (input, output, rest) => pool(x + input, y + output, ...rest));
}

export function maxPoolGradient(
  simd: Simd,
  info: PoolInfo,
  { x, y, dy, dx }: { readonly x: number; readonly y: number; readonly dy: number; readonly dx: number },
): void {
  const gradient = simd.call["maxPoolGrad"]!;
  simd.call["fillZero"]!(dx, info.batchSize * info.inHeight * info.inWidth * info.inChannels * float);
  forEachRow(simd, info, (input, output, rest) => gradient(x + input, y + output, dy + output, dx + input, ...rest));
}
