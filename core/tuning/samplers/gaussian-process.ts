/** A point as features: numbers in [0, 1]. A categorical parameter has one feature for each choice. */
export type Features = Float64Array;

/** Posterior at a point, in the units of the given values. */
export interface Prediction {
  readonly mean: number;
  readonly deviation: number;
}

interface Hyperparameters {
  /** Length of each group of features: one per parameter. */
  readonly lengths: Float64Array;
  /** Variance of the noise, relative to that of the process. */
  readonly noise: number;
}

const root5 = Math.sqrt(5);
const iterations = 24;
/** Points on which the hyperparameters are fitted: the cost grows with the cube of their number. */
const maxFitted = 64;
const noiseRange = [1e-6, 0.1] as const;
const lengthRange = [0.02, 20] as const;

/**
 * A Gaussian process with a Matérn 5/2 kernel and a length for each parameter (Rasmussen and Williams, 2006). The
 * hyperparameters maximize the marginal likelihood under a weak prior; the variance of the process follows from them.
 */
export class GaussianProcess {
  readonly #points: readonly Features[];
  readonly #groups: readonly number[];
  readonly #hyperparameters: Hyperparameters;
  readonly #factor: Float64Array;
  readonly #weights: Float64Array;
  readonly #variance: number;

  /**
   * @param groups the parameter of each feature
   * @param values one per point, with mean 0 and deviation 1
   * @param fitted the points on which the hyperparameters are fitted, by index
   */
  constructor(
    points: readonly Features[],
    values: Float64Array,
    groups: readonly number[],
    fitted: readonly number[],
    preset?: Hyperparameters,
  ) {
    this.#points = points;
    this.#groups = groups;
    const chosen = fitted.slice(0, maxFitted);
    this.#hyperparameters =
      preset ??
      fitHyperparameters(
        chosen.map((i) => points[i] as Features),
        Float64Array.from(chosen, (i) => values[i] as number),
        groups,
      );
    this.#factor = choleskyOf(covariance(points, groups, this.#hyperparameters), points.length);
    this.#weights = solve(this.#factor, values);
    this.#variance = Math.max(1e-12, dot(values, this.#weights) / Math.max(1, points.length));
  }

  get hyperparameters(): Hyperparameters {
    return this.#hyperparameters;
  }

  predict(point: Features): Prediction {
    const count = this.#points.length;
    const cross = new Float64Array(count);
    for (let i = 0; i < count; i += 1) {
      cross[i] = kernel(this.#points[i] as Features, point, this.#groups, this.#hyperparameters.lengths);
    }
    const half = forward(this.#factor, cross);
    const variance = Math.max(1e-12, 1 - dot(half, half));
    return { mean: dot(cross, this.#weights), deviation: Math.sqrt(this.#variance * variance) };
  }
}

function squaredDistance(a: Features, b: Features, groups: readonly number[], lengths: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k += 1) {
    const scaled = ((a[k] as number) - (b[k] as number)) / (lengths[groups[k] as number] as number);
    sum += scaled * scaled;
  }
  return sum;
}

function kernel(a: Features, b: Features, groups: readonly number[], lengths: Float64Array): number {
  const squared = squaredDistance(a, b, groups, lengths);
  const r = root5 * Math.sqrt(squared);
  return (1 + r + (5 / 3) * squared) * Math.exp(-r);
}

function covariance(points: readonly Features[], groups: readonly number[], { lengths, noise }: Hyperparameters) {
  const count = points.length;
  const matrix = new Float64Array(count * count);
  for (let i = 0; i < count; i += 1) {
    for (let j = 0; j < i; j += 1) {
      matrix[i * count + j] = kernel(points[i] as Features, points[j] as Features, groups, lengths);
    }
    matrix[i * count + i] = 1 + noise;
  }
  return matrix;
}

/** Replaces the lower triangle of a positive definite matrix by its Cholesky factor. */
function choleskyOf(matrix: Float64Array, count: number): Float64Array {
  for (let i = 0; i < count; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = matrix[i * count + j] as number;
      for (let k = 0; k < j; k += 1) sum -= (matrix[i * count + k] as number) * (matrix[j * count + k] as number);
      matrix[i * count + j] = i === j ? Math.sqrt(Math.max(sum, 1e-10)) : sum / (matrix[j * count + j] as number);
    }
  }
  return matrix;
}

/** Solves L x = b. */
function forward(factor: Float64Array, b: Float64Array): Float64Array {
  const count = b.length;
  const x = new Float64Array(count);
  for (let i = 0; i < count; i += 1) {
    let sum = b[i] as number;
    for (let k = 0; k < i; k += 1) sum -= (factor[i * count + k] as number) * (x[k] as number);
    x[i] = sum / (factor[i * count + i] as number);
  }
  return x;
}

/** Solves L Lᵀ x = b. */
function solve(factor: Float64Array, b: Float64Array): Float64Array {
  const x = forward(factor, b);
  const count = b.length;
  for (let i = count - 1; i >= 0; i -= 1) {
    let sum = x[i] as number;
    for (let k = i + 1; k < count; k += 1) sum -= (factor[k * count + i] as number) * (x[k] as number);
    x[i] = sum / (factor[i * count + i] as number);
  }
  return x;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/**
 * Maximizes the marginal likelihood over the logarithms of lengths and noise, by resilient steps along the gradient
 * (iRprop−; Igel and Hüsken, 2003).
 */
function fitHyperparameters(
  points: readonly Features[],
  values: Float64Array,
  groups: readonly number[],
): Hyperparameters {
  const size = Math.max(-1, ...groups) + 1;
  const prior = Math.log(0.5 * Math.sqrt(Math.max(1, size)));
  const theta = Float64Array.from({ length: size + 1 }, (_, at) => (at < size ? prior : Math.log(1e-3)));
  const steps = new Float64Array(size + 1).fill(0.3);
  let before = new Float64Array(size + 1);
  const read = (): Hyperparameters => ({
    lengths: Float64Array.from({ length: size }, (_, at) => Math.exp(theta[at] as number)),
    noise: Math.exp(theta[size] as number),
  });
  for (let iteration = 0; iteration < iterations; iteration += 1) {
    const gradient = likelihoodGradient(points, values, groups, read());
    for (let at = 0; at <= size; at += 1) {
      const mean = at < size ? prior : Math.log(1e-4);
      const spread = at < size ? 1 : 2;
      gradient[at] = (gradient[at] as number) - ((theta[at] as number) - mean) / (spread * spread);
      const product = (gradient[at] as number) * (before[at] as number);
      if (product > 0) steps[at] = Math.min(1, 1.2 * (steps[at] as number));
      if (product < 0) {
        steps[at] = Math.max(1e-3, 0.5 * (steps[at] as number));
        gradient[at] = 0;
      }
      const [low, high] = at < size ? lengthRange : noiseRange;
      const moved = (theta[at] as number) + Math.sign(gradient[at] as number) * (steps[at] as number);
      theta[at] = Math.min(Math.log(high), Math.max(Math.log(low), moved));
    }
    before = gradient;
  }
  return read();
}

/** Returns the gradient of the profiled log marginal likelihood by the logarithms of lengths and noise. */
function likelihoodGradient(
  points: readonly Features[],
  values: Float64Array,
  groups: readonly number[],
  hyperparameters: Hyperparameters,
): Float64Array<ArrayBuffer> {
  const { lengths, noise } = hyperparameters;
  const count = points.length;
  const size = lengths.length;
  const factor = choleskyOf(covariance(points, groups, hyperparameters), count);
  const weights = solve(factor, values);
  const variance = Math.max(1e-12, dot(values, weights) / count);
  const inverse = inverseOf(factor, count);
  const gradient = new Float64Array(size + 1);
  const parts = new Float64Array(size);
  for (let i = 0; i < count; i += 1) {
    for (let j = 0; j < i; j += 1) {
      parts.fill(0);
      let squared = 0;
      const [a, b] = [points[i] as Features, points[j] as Features];
      for (let k = 0; k < a.length; k += 1) {
        const group = groups[k] as number;
        const scaled = ((a[k] as number) - (b[k] as number)) / (lengths[group] as number);
        parts[group] = (parts[group] as number) + scaled * scaled;
        squared += scaled * scaled;
      }
      const r = root5 * Math.sqrt(squared);
      const slope = (5 / 3) * (1 + r) * Math.exp(-r);
      const factorOf =
        ((weights[i] as number) * (weights[j] as number)) / variance - (inverse[i * count + j] as number);
      for (let at = 0; at < size; at += 1)
        gradient[at] = (gradient[at] as number) + factorOf * slope * (parts[at] as number);
    }
    const diagonal = (weights[i] as number) ** 2 / variance - (inverse[i * count + i] as number);
    gradient[size] = (gradient[size] as number) + 0.5 * noise * diagonal;
  }
  return gradient;
}

/** Returns the lower triangle of the inverse of L Lᵀ. */
function inverseOf(factor: Float64Array, count: number): Float64Array {
  const inverse = new Float64Array(count * count);
  const unit = new Float64Array(count);
  for (let j = 0; j < count; j += 1) {
    unit.fill(0);
    unit[j] = 1;
    const column = solve(factor, unit);
    for (let i = j; i < count; i += 1) inverse[i * count + j] = column[i] as number;
  }
  return inverse;
}
