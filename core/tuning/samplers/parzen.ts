import type { Draws } from "../draws";
import type { Dimension } from "./coordinates";
import { normalCdf } from "./normal";

/** A mixture of one kernel per trial, all with the same weight, and a uniform one. */
export interface Parzen {
  /** Draws a kernel. The returned function draws a coordinate from it. */
  component(draws: Draws): (dimension: number, draws: Draws) => number;
  /**
   * Returns the logarithm of the density at a point, relative to the uniform distribution. A dimension whose coordinate
   * is NaN does not count. A kernel that lacks the coordinate is uniform in it.
   */
  logDensity(point: readonly number[]): number;
}

interface Kernels {
  readonly centres: Float64Array;
  /** Bandwidth; for choices the probability with which the choice is drawn uniformly. */
  readonly width: number;
  /** Logarithms of the normalising factors, by kernel; for choices unused. */
  readonly norms: Float64Array;
}

/**
 * Estimates a density from the coordinates of trials, by dimension.
 *
 * @param uniformShare the weight of the uniform kernel; 1 without trials
 * @param factor the bandwidth as a multiple of a fifth of the range, reduced with more trials by Scott's rule (1992)
 */
export function createParzen(
  dimensions: readonly Dimension[],
  columns: readonly Float64Array[],
  uniformShare: number,
  factor: number,
): Parzen {
  const count = columns[0]?.length ?? 0;
  const kernels = dimensions.map((dimension, at) => kernelsOf(dimension, columns[at]!, dimensions.length, factor));
  const sums = new Float64Array(count);
  return {
    component(draws) {
      const chosen = draws.uniform() < uniformShare ? count : draws.index(count); // the index of the uniform kernel is count
      return (at, source) => drawFrom(dimensions[at]!, kernels[at]!, chosen, source);
    },
    logDensity(point) {
      sums.fill(0);
      for (const [at, { choices }] of dimensions.entries()) {
        const x = point[at]!;
        if (Number.isNaN(x)) continue;
        if (choices > 0) addChoices(sums, kernels[at]!, x, choices);
        else addNormals(sums, kernels[at]!, x);
      }
      return logMixture(sums, uniformShare);
    },
  };
}

const minWidth = 0.005;

function kernelsOf({ choices, step }: Dimension, centres: Float64Array, dimensions: number, factor: number): Kernels {
  const known = centres.filter((x) => !Number.isNaN(x));
  if (choices > 0) return { centres, width: choices / (known.length + choices), norms: centres };
  const scott = 0.2 * Math.max(1, known.length) ** (-1 / (dimensions + 4));
  const width = Math.max(minWidth, step / 2, factor * scott);
  const norms = centres.map((x) =>
    Number.isNaN(x)
      ? 0
      : -Math.log(width * Math.sqrt(2 * Math.PI) * (normalCdf((1 - x) / width) - normalCdf(-x / width))),
  );
  return { centres, width, norms };
}

function drawFrom({ choices }: Dimension, { centres, width }: Kernels, chosen: number, draws: Draws): number {
  const centre = centres[chosen] ?? Number.NaN;
  if (choices > 0) return Number.isNaN(centre) || draws.uniform() < width ? draws.index(choices) : centre;
  if (Number.isNaN(centre)) return draws.uniform();
  for (;;) {
    // The centre is inside, so that at least almost half of the draws are for these widths.
    const x = centre + width * draws.normal();
    if (x >= 0 && x <= 1) return x;
  }
}

function addNormals(sums: Float64Array, { centres, width, norms }: Kernels, x: number): void {
  const scale = 1 / width;
  for (let k = 0; k < sums.length; k += 1) {
    const z = (x - centres[k]!) * scale;
    if (!Number.isNaN(z)) sums[k]! += norms[k]! - 0.5 * z * z;
  }
}

function addChoices(sums: Float64Array, { centres, width }: Kernels, x: number, choices: number): void {
  const same = Math.log(choices * (1 - width) + width);
  const other = Math.log(width);
  for (let k = 0; k < sums.length; k += 1) {
    const centre = centres[k]!;
    if (!Number.isNaN(centre)) sums[k]! += centre === x ? same : other;
  }
}

/** Returns the logarithm of the density of kernels with the same weight, and a uniform one. */
function logMixture(logs: Float64Array, uniformShare: number): number {
  let max = 0;
  for (const one of logs) if (one > max) max = one;
  let sum = 0;
  for (const one of logs) if (one - max > -40) sum += Math.exp(one - max);
  const mean = logs.length > 0 ? sum / logs.length : 0;
  return max + Math.log((1 - uniformShare) * mean + uniformShare * Math.exp(-max));
}
