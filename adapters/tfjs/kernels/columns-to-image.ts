import type { ConvInfo } from "../simd/conv";

/**
 * Adds each element of `columns` (a patch for each output position) to its pixel of one NHWC image. `image` is
 * overwritten.
 */
export function columnsToImage(info: ConvInfo, columns: Float32Array, image: Float32Array): void {
  const { inHeight, inWidth, inChannels, outHeight, outWidth, filterHeight, filterWidth, padInfo } = info;
  image.fill(0);
  let at = 0;
  for (let oh = 0; oh < outHeight; oh++) {
    for (let ow = 0; ow < outWidth; ow++) {
      for (let kh = 0; kh < filterHeight; kh++) {
        const row = oh * info.strideHeight - padInfo.top + kh * info.dilationHeight;
        for (let kw = 0; kw < filterWidth; kw++, at += inChannels) {
          const column = ow * info.strideWidth - padInfo.left + kw * info.dilationWidth;
          if (row < 0 || row >= inHeight || column < 0 || column >= inWidth) continue;
          const pixel = (row * inWidth + column) * inChannels;
          for (let c = 0; c < inChannels; c++)
            image[pixel + c] = (image[pixel + c] as number) + (columns[at + c] as number);
        }
      }
    }
  }
}
