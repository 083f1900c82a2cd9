/**
 * Convolution as matrix product. The column matrix has a row for each output position (n, oh, ow) and a column for each
 * (kh, kw, ci) of the filter: P × K. In NHWC a window's row of kw × ci values is contiguous, so it is copied in one run.
 */
import type { backend_util } from "@tensorflow/tfjs-core";

export type ConvInfo = backend_util.Conv2DInfo;

/** Output positions P. */
export function positions({ batchSize, outHeight, outWidth }: ConvInfo): number {
  return batchSize * outHeight * outWidth;
}

/** Elements of one filter, K. */
export function patchSize({ filterHeight, filterWidth, inChannels }: ConvInfo): number {
  return filterHeight * filterWidth * inChannels;
}

/** A window that covers one pixel and moves by one: the image is its own column matrix. */
export function isPointwise({ filterHeight, filterWidth, strideHeight, strideWidth, padInfo }: ConvInfo): boolean {
  const { top, bottom, left, right } = padInfo;
  return filterHeight * filterWidth * strideHeight * strideWidth === 1 && top + bottom + left + right === 0;
}

/** Calls `visit` for each run of a column-matrix row that lies inside the image; the rest of the row is padding. */
function forEachRun(info: ConvInfo, visit: (column: number, image: number, length: number) => void): void {
  const { batchSize, outHeight, outWidth, inHeight, inWidth, inChannels, filterHeight, filterWidth } = info;
  const { top, left } = info.padInfo;
  const run = filterWidth * inChannels;
  let column = 0;
  for (let n = 0; n < batchSize; n++) {
    for (let oh = 0; oh < outHeight; oh++) {
      for (let ow = 0; ow < outWidth; ow++) {
        const firstColumn = ow * info.strideWidth - left;
        const begin = firstColumn < 0 ? -firstColumn * inChannels : 0;
        const end = Math.min(run, (inWidth - firstColumn) * inChannels);
        for (let kh = 0; kh < filterHeight; kh++, column += run) {
          const row = oh * info.strideHeight - top + kh;
          if (row < 0 || row >= inHeight || end <= begin) continue;
          visit(column + begin, ((n * inHeight + row) * inWidth + firstColumn) * inChannels + begin, end - begin);
        }
      }
    }
  }
}

/** Fills `columns` (P × K) from `image` (NHWC). */
export function imageToColumns(info: ConvInfo, image: Float32Array, columns: Float32Array): void {
  columns.fill(0);
  forEachRun(info, (column, at, length) => {
    for (let i = 0; i < length; i++) columns[column + i] = image[at + i] as number;
  });
}

/** The adjoint: adds every element of `columns` to the pixel it came from. `image` is overwritten. */
export function columnsToImage(info: ConvInfo, columns: Float32Array, image: Float32Array): void {
  image.fill(0);
  forEachRun(info, (column, at, length) => {
    for (let i = 0; i < length; i++) image[at + i] = (image[at + i] as number) + (columns[column + i] as number);
  });
}
