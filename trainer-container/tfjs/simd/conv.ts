/**
 * Convolutions as products. Panels are gathered by two tables, of windows' starts and of offsets in a window, without a
 * matrix of patches. An image with padding is first copied into a border of zeros.
 */
import type { backend_util } from "@tensorflow/tfjs-core";
import { blocks, maxBlockK, multiplyPanels, type PackA, packB, packBlockOfA, panelsOf, rowsOfBlock } from "./gemm";
import type { Simd } from "./simd";

export type ConvInfo = backend_util.Conv2DInfo;

const float = 4;

/** Returns the output positions of one image. */
export function positions({ outHeight, outWidth }: ConvInfo): number {
  return outHeight * outWidth;
}

export function patchSize({ filterHeight, filterWidth, inChannels }: ConvInfo): number {
  return filterHeight * filterWidth * inChannels;
}

interface Tables {
  readonly positions: number;
  readonly patch: number;
}

function paddedWidth({ inWidth, padInfo }: ConvInfo): number {
  return inWidth + padInfo.left + padInfo.right;
}

function tablesOf(simd: Simd, info: ConvInfo): Tables {
  const pixel = info.inChannels * float;
  const row = paddedWidth(info) * pixel;
  const starts = new Int32Array(positions(info)).map((_, at) => {
    const [oh, ow] = [Math.floor(at / info.outWidth), at % info.outWidth];
    return oh * info.strideHeight * row + ow * info.strideWidth * pixel;
  });
  const elements = new Int32Array(patchSize(info)).map((_, at) => {
    const tap = Math.floor(at / info.inChannels);
    const [kh, kw] = [Math.floor(tap / info.filterWidth), tap % info.filterWidth];
    return kh * info.dilationHeight * row + kw * info.dilationWidth * pixel + (at % info.inChannels) * float;
  });
  return { positions: simd.table("positions", starts), patch: simd.table("patch", elements) };
}

/** Returns a function for the address of image `n` of `x` with its padding. */
function paddedImages(simd: Simd, info: ConvInfo, x: number): (n: number) => number {
  const { inHeight, inWidth, inChannels, padInfo } = info;
  const [width, row] = [inWidth * inChannels * float, paddedWidth(info) * inChannels * float];
  const size = inHeight * width;
  if (padInfo.top + padInfo.bottom + padInfo.left + padInfo.right === 0) return (n) => x + n * size;
  const bytes = (inHeight + padInfo.top + padInfo.bottom) * row;
  const to = simd.scratch("image", bytes);
  simd.call["fillZero"]!(to, bytes);
  const inside = to + padInfo.top * row + padInfo.left * inChannels * float;
  return (n) => {
    simd.call["copyRows"]!(inside, x + n * size, inHeight, width, row);
    return to;
  };
}

/** Returns the packer of a matrix whose element (row, k) is at `image + rows[row] + ks[k]`, with two tables. */
const gathererOf =
  (simd: Simd, image: number, rows: number, ks: number): PackA =>
  (to, panels, k, depth) => {
    const gather = simd.call[`packGathered${panels.rows}`]!;
    gather(to, image, panels.count, depth, ks + k * float, rows + panels.first * float);
  };

/** Computes y = windows of x · filter for NHWC images. `filter` is a patch × channels matrix. */
export function convolve(simd: Simd, info: ConvInfo, x: number, filter: number, y: number): void {
  const [places, channels] = [positions(info), info.outChannels];
  const tables = tablesOf(simd, info);
  const imageAt = paddedImages(simd, info, x);
  const row = channels * float;
  for (const [fromK, depth] of blocks(patchSize(info), maxBlockK)) {
    const b = packB(simd, { at: filter + fromK * row, row, column: float }, channels, depth);
    for (let n = 0; n < info.batchSize; n++) {
      const image = imageAt(n);
      for (const [first, count] of blocks(places, rowsOfBlock(depth))) {
        const panels = panelsOf(count);
        const gather = gathererOf(simd, image, tables.positions + first * float, tables.patch);
        const a = packBlockOfA(simd, gather, panels, fromK, depth);
        const at = y + (n * places + first) * row;
        multiplyPanels(simd, panels, a, b, { columns: channels, depth, at, row, add: fromK > 0 });
      }
    }
  }
}

/** Computes the gradient of the filter, image by image: transposed windows of x · dy, added up by blocks. */
export function filterGradient(simd: Simd, info: ConvInfo, x: number, dy: number, gradient: number): void {
  const [places, channels] = [positions(info), info.outChannels];
  const tables = tablesOf(simd, info);
  const imageAt = paddedImages(simd, info, x);
  const row = channels * float;
  for (let n = 0; n < info.batchSize; n++) {
    const image = imageAt(n);
    for (const [fromPlace, depth] of blocks(places, maxBlockK)) {
      const b = packB(simd, { at: dy + (n * places + fromPlace) * row, row, column: float }, channels, depth);
      for (const [first, count] of blocks(patchSize(info), rowsOfBlock(depth))) {
        const panels = panelsOf(count);
        const gather = gathererOf(simd, image, tables.patch + first * float, tables.positions);
        const a = packBlockOfA(simd, gather, panels, fromPlace, depth);
        const at = gradient + first * row;
        multiplyPanels(simd, panels, a, b, { columns: channels, depth, at, row, add: n > 0 || fromPlace > 0 });
      }
    }
  }
}

/** Returns whether the gradient of the input is a convolution with the rotated filter. */
export function isTurnable({ padInfo, filterHeight, filterWidth, ...info }: ConvInfo): boolean {
  return (
    Math.max(info.strideHeight, info.strideWidth, info.dilationHeight, info.dilationWidth) === 1 &&
    Math.max(padInfo.top, padInfo.bottom) < filterHeight &&
    Math.max(padInfo.left, padInfo.right) < filterWidth
  );
}

/** Computes the gradient of the input at stride 1: dy convolved with the filter rotated by 180°, channels swapped. */
export function inputGradient(simd: Simd, info: ConvInfo, dy: number, filter: number, dx: number): void {
  const { padInfo, filterHeight, filterWidth } = info;
  const turned: ConvInfo = {
    ...info,
    inHeight: info.outHeight,
    inWidth: info.outWidth,
    inChannels: info.outChannels,
    outHeight: info.inHeight,
    outWidth: info.inWidth,
    outChannels: info.inChannels,
    padInfo: {
      ...padInfo,
      top: filterHeight - 1 - padInfo.top,
      bottom: filterHeight - 1 - padInfo.bottom,
      left: filterWidth - 1 - padInfo.left,
      right: filterWidth - 1 - padInfo.right,
    },
  };
  convolve(simd, turned, dy, turnedFilter(simd, info, filter), dx);
}

/**
 * Writes `[height, width, in, out]`, reversed over height and width, as `[height, width, out, in]` to scratch memory.
 */
function turnedFilter(simd: Simd, info: ConvInfo, filter: number): number {
  const [taps, inputs, outputs] = [info.filterHeight * info.filterWidth, info.inChannels, info.outChannels];
  const size = inputs * outputs;
  const at = simd.scratch("filter", taps * size * float);
  const [from, to] = [simd.floats(filter, taps * size), simd.floats(at, taps * size)];
  for (let tap = 0; tap < taps; tap++) {
    const [source, target] = [tap * size, (taps - 1 - tap) * size];
    for (let i = 0; i < inputs; i++) {
      for (let o = 0; o < outputs; o++) to[target + o * inputs + i] = from[source + i * outputs + o] as number;
    }
  }
  return at;
}

export type PoolInfo = backend_util.Conv2DInfo;

/** Whether the SIMD kernels apply: all windows are inside the image, and channels are a multiple of four. */
export function isWhole(info: PoolInfo): boolean {
  const { top, bottom, left, right } = info.padInfo;
  return (
    info.inChannels % 4 === 0 &&
    top + bottom + left + right === 0 &&
    (info.outHeight - 1) * info.strideHeight + info.filterHeight <= info.inHeight &&
    (info.outWidth - 1) * info.strideWidth + info.filterWidth <= info.inWidth
  );
}

/** Calls `visit` for each row of outputs with the offsets of its first window and output, and the last operands. */
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
