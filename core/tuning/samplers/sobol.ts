import { parameterOrder } from "../space";
import { drawsFor, pointOf, type Sampler, type SamplerContext } from "./sampler";

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

/**
 * Primitive polynomials and initial direction numbers of dimensions 2 to 100 of Sobol's sequence: per dimension the
 * polynomial's coefficients as bits, then m_1, m_2, …. From new-joe-kuo-6.21201 by S. Joe and F. Y. Kuo (2008), published
 * under a BSD licence (https://web.maths.unsw.edu.au/~fkuo/sobol/).
 */
const table =
  "3,1 7,1,3 11,1,3,1 13,1,1,1 19,1,1,3,3 25,1,3,5,13 37,1,1,5,5,17 41,1,1,5,5,5 47,1,1,7,11,19 55,1,1,5,1,1 " +
  "59,1,1,1,3,11 61,1,3,5,5,31 67,1,3,3,9,7,49 91,1,1,1,15,21,21 97,1,3,1,13,27,49 103,1,1,1,15,7,5 " +
  "109,1,3,1,15,13,25 115,1,1,5,5,19,61 131,1,3,7,11,23,15,103 137,1,3,7,13,13,15,69 143,1,1,3,13,7,35,63 " +
  "145,1,3,5,9,1,25,53 157,1,3,1,13,9,35,107 167,1,3,1,5,27,61,31 171,1,1,5,11,19,41,61 185,1,3,5,3,3,13,69 " +
  "191,1,1,7,13,1,19,1 193,1,3,7,5,13,19,59 203,1,1,3,9,25,29,41 211,1,3,5,13,23,1,55 213,1,3,7,3,13,59,17 " +
  "229,1,3,1,3,5,53,69 239,1,1,5,5,23,33,13 241,1,1,7,7,1,61,123 247,1,1,7,9,13,61,49 253,1,3,3,5,3,55,33 " +
  "285,1,3,1,15,31,13,49,245 299,1,3,5,15,31,59,63,97 301,1,3,1,11,11,11,77,249 333,1,3,1,11,27,43,71,9 " +
  "351,1,1,7,15,21,11,81,45 355,1,3,7,3,25,31,65,79 357,1,3,1,1,19,11,3,205 361,1,1,5,9,19,21,29,157 " +
  "369,1,3,7,11,1,33,89,185 391,1,3,3,3,15,9,79,71 397,1,3,7,11,15,39,119,27 425,1,1,3,1,11,31,97,225 " +
  "451,1,1,1,3,23,43,57,177 463,1,3,7,7,17,17,37,71 487,1,3,1,5,27,63,123,213 501,1,1,3,5,11,43,53,133 " +
  "529,1,3,5,5,29,17,47,173,479 539,1,3,3,11,3,1,109,9,69 545,1,1,1,5,17,39,23,5,343 557,1,3,1,5,25,15,31,103,499 " +
  "563,1,1,1,11,11,17,63,105,183 601,1,1,5,11,9,29,97,231,363 607,1,1,5,15,19,45,41,7,383 " +
  "617,1,3,7,7,31,19,83,137,221 623,1,1,1,3,23,15,111,223,83 631,1,1,5,13,31,15,55,25,161 " +
  "637,1,1,3,13,25,47,39,87,257 647,1,1,1,11,21,53,125,249,293 661,1,1,7,11,11,7,57,79,323 " +
  "675,1,1,5,5,17,13,81,3,131 677,1,1,7,13,23,7,65,251,475 687,1,3,5,1,9,43,3,149,11 695,1,1,3,13,31,13,13,255,487 " +
  "701,1,3,3,1,5,63,89,91,127 719,1,1,3,3,1,19,123,127,237 721,1,1,5,7,23,31,37,243,289 " +
  "731,1,1,5,11,17,53,117,183,491 757,1,1,1,5,1,13,13,209,345 761,1,1,3,15,1,57,115,7,33 " +
  "787,1,3,1,11,7,43,81,207,175 789,1,3,1,1,15,27,63,255,49 799,1,3,5,3,27,61,105,171,305 " +
  "803,1,1,5,3,1,3,57,249,149 817,1,1,3,5,5,57,15,13,159 827,1,1,1,11,7,11,105,141,225 " +
  "847,1,3,3,5,27,59,121,101,271 859,1,3,5,9,11,49,51,59,115 865,1,1,7,1,23,45,125,71,419 " +
  "875,1,1,3,5,23,5,105,109,75 877,1,1,7,15,7,11,67,121,453 883,1,3,7,3,9,13,31,27,449 895,1,3,1,15,19,39,39,89,15 " +
  "901,1,1,1,1,1,33,73,145,379 911,1,3,1,15,15,43,29,13,483 949,1,1,7,3,19,27,85,131,431 " +
  "953,1,3,3,3,5,35,23,195,349 967,1,3,3,7,9,27,39,59,297 971,1,1,3,9,11,17,13,241,157 " +
  "973,1,3,7,15,25,57,33,189,213 981,1,1,7,1,9,55,73,83,217 985,1,3,3,13,19,27,23,113,249 " +
  "995,1,3,5,3,23,43,3,253,479 1001,1,1,5,5,11,5,45,117,217";

const bits = 32;

/** Returns the 32 direction numbers of each dimension, the first of which is van der Corput's. */
export function sobolDirections(dimensions: number): readonly Uint32Array[] {
  const first = Uint32Array.from({ length: bits }, (_, j) => 2 ** (bits - 1 - j));
  const others = table.split(" ").slice(0, Math.max(0, dimensions - 1));
  return [first, ...others.map((entry) => directionsOf(entry.split(",").map(Number)))].slice(0, dimensions);
}

/** The recurrence of Bratley and Fox (1988): m_j from the m before it and the polynomial's coefficients. */
function directionsOf([polynomial = 0, ...initial]: readonly number[]): Uint32Array {
  const degree = initial.length;
  const m = [...initial];
  for (let j = degree; j < bits; j += 1) {
    let next = BigInt(m[j - degree] as number) ^ (BigInt(m[j - degree] as number) << BigInt(degree));
    for (let k = 1; k < degree; k += 1) {
      if ((polynomial >> (degree - k)) & 1) next ^= BigInt(m[j - k] as number) << BigInt(k);
    }
    m.push(Number(next));
  }
  return Uint32Array.from(m, (value, j) => value * 2 ** (bits - 1 - j));
}
