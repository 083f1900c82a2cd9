/**
 * Convolution as matrix product. The column matrix has a row for each (kh, kw, ci) of the filter, K of them, and a column for
 * each output position (n, oh, ow), P of them. It is filled from the image with its channels in front (planar, C × N × H × W),
 * so that both sides are read and written in runs.
 */
import type { backend_util } from "@tensorflow/tfjs-core";

export type ConvInfo = backend_util.Conv2DInfo;

/** Output positions of one image. */
export function positions({ outHeight, outWidth }: ConvInfo): number {
  return outHeight * outWidth;
}

/** Elements of one filter, K. */
export function patchSize({ filterHeight, filterWidth, inChannels }: ConvInfo): number {
  return filterHeight * filterWidth * inChannels;
}

/** First and last + 1 output column whose input column `ow × stride + shift` lies in the image. */
function columnRange({ outWidth, inWidth, strideWidth }: ConvInfo, shift: number): readonly [number, number] {
  const first = shift < 0 ? Math.ceil(-shift / strideWidth) : 0;
  const last = Math.ceil((inWidth - shift) / strideWidth);
  return [Math.min(first, outWidth), Math.max(first, Math.min(last, outWidth))];
}

/**
 * Calls `visit` for the run of each (kh, kw, ci, n, oh): `columns[at + ow]` meets `image[base + ow × stride]` for `first ≤ ow <
 * last`; outside of that the window is over padding.
 */
function forEachRun(
  info: ConvInfo,
  images: number,
  visit: (at: number, base: number, first: number, last: number) => void,
): void {
  const { inHeight, inWidth, inChannels, outHeight, outWidth, filterHeight, filterWidth, padInfo } = info;
  let at = 0;
  for (let kh = 0; kh < filterHeight; kh++) {
    for (let kw = 0; kw < filterWidth; kw++) {
      const shift = kw - padInfo.left;
      const [first, last] = columnRange(info, shift);
      for (let plane = 0; plane < inChannels * images; plane++) {
        for (let oh = 0; oh < outHeight; oh++, at += outWidth) {
          const row = oh * info.strideHeight - padInfo.top + kh;
          const inside = row >= 0 && row < inHeight;
          visit(at, (plane * inHeight + row) * inWidth + shift, first, inside ? last : first);
        }
      }
    }
  }
}

/** Fills `columns` (K × P) from `image` (C × N × H × W). */
export function imageToColumns(info: ConvInfo, images: number, image: Float32Array, columns: Float32Array): void {
  const { outWidth, strideWidth } = info;
  forEachRun(info, images, (at, base, first, last) => {
    for (let ow = 0; ow < first; ow++) columns[at + ow] = 0;
    for (let ow = first; ow < last; ow++) columns[at + ow] = image[base + ow * strideWidth] as number;
    for (let ow = last; ow < outWidth; ow++) columns[at + ow] = 0;
  });
}

/** The adjoint: adds every element of `columns` to the pixel it came from. `image` is overwritten. */
export function columnsToImage(info: ConvInfo, images: number, columns: Float32Array, image: Float32Array): void {
  image.fill(0);
  forEachRun(info, images, (at, base, first, last) => {
    for (let ow = first; ow < last; ow++) {
      const pixel = base + ow * info.strideWidth;
      image[pixel] = (image[pixel] as number) + (columns[at + ow] as number);
    }
  });
}
