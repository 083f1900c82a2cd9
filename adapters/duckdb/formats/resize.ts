/** Eight-bit pixels, row-major, the channels of a pixel together. */
export interface Pixels {
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

/**
 * Resizes by a triangle filter whose support grows with the reduction, like Pillow's `BILINEAR`: reductions average all
 * pixels.
 */
export function resize(image: Pixels, height: number, width: number): Pixels {
  if (image.height === height && image.width === width) return image;
  const { channels } = image;
  const across = filterOf(image.width, width);
  const down = filterOf(image.height, height);
  const rows = new Float64Array(image.height * width * channels);
  for (let y = 0; y < image.height; y += 1) {
    for (const [x, { first, weights }] of across.entries()) {
      for (let c = 0; c < channels; c += 1) {
        let sum = 0;
        for (let i = 0; i < weights.length; i += 1) {
          sum += weights[i]! * image.data[(y * image.width + first + i) * channels + c]!;
        }
        rows[(y * width + x) * channels + c] = sum;
      }
    }
  }
  const data = new Uint8Array(height * width * channels);
  for (const [y, { first, weights }] of down.entries()) {
    for (let at = 0; at < width * channels; at += 1) {
      let sum = 0;
      for (let i = 0; i < weights.length; i += 1) sum += weights[i]! * rows[(first + i) * width * channels + at]!;
      data[y * width * channels + at] = Math.min(255, Math.max(0, Math.round(sum)));
    }
  }
  return { height, width, channels, data };
}

/** Returns the first source position and the weights of each target position. */
function filterOf(from: number, to: number): readonly { readonly first: number; readonly weights: Float64Array }[] {
  const scale = from / to;
  const support = Math.max(1, scale);
  return Array.from({ length: to }, (_, index) => {
    const centre = (index + 0.5) * scale;
    const first = Math.max(0, Math.floor(centre - support + 0.5));
    const end = Math.min(from, Math.floor(centre + support + 0.5));
    const weights = Float64Array.from({ length: end - first }, (_weight, i) =>
      Math.max(0, 1 - Math.abs((first + i + 0.5 - centre) / support)),
    );
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { first, weights: weights.map((weight) => weight / sum) };
  });
}
