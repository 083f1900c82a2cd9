import { drawsFor } from "../draws";
import { parameterOrder } from "../space";
import { pointOf } from "./random";
import type { Sampler, SamplerContext } from "./sampler";
import { sobolDirections } from "./sobol-directions";

/**
 * Covers the space evenly by a scrambled Sobol sequence: the first 2^k trials have one value in each of 2^k equal parts
 * of every parameter. Trial n is point n in Gray code order (Antonov and Saleev, 1979), so that trials do not depend on each
 * other. The scrambling is Owen's, by the hash of Laine and Karras as improved by Burley (2020).
 */
export function sobolSampler({ space, seed }: SamplerContext): Sampler {
  const count = parameterOrder(space).length;
  const directions = sobolDirections(count);
  const seeds = Array.from({ length: count }, (_, dimension) => drawsFor(seed, dimension).index(2 ** 32));
  return {
    usesHistory: false,
    suggest: (_history, number) =>
      pointOf(space, (dimension) => {
        const point = sobolPoint(directions[dimension] as Uint32Array, number);
        return scrambled(point, seeds[dimension] as number) / 2 ** 32;
      }),
  };
}

/** Returns a coordinate of the sequence's point as 32 bits after the binary point. */
export function sobolPoint(directions: Uint32Array, index: number): number {
  let point = 0;
  let gray = (index ^ (index >>> 1)) >>> 0;
  for (let bit = 0; gray !== 0; bit += 1, gray >>>= 1) if (gray & 1) point ^= directions[bit] as number;
  return point >>> 0;
}

/** Scrambles each bit by a hash of those before it. */
function scrambled(point: number, seed: number): number {
  let x = reversed(point);
  x ^= Math.imul(x, 0x3d20adea);
  x = (x + seed) | 0;
  x = Math.imul(x, (seed >>> 16) | 1);
  x ^= Math.imul(x, 0x05526c56);
  x ^= Math.imul(x, 0x53a22864);
  return reversed(x);
}

function reversed(value: number): number {
  let x = value;
  x = ((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >>> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >>> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  x = ((x >>> 8) & 0x00ff00ff) | ((x & 0x00ff00ff) << 8);
  return ((x >>> 16) | (x << 16)) >>> 0;
}
