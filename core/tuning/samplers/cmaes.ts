import { bestFirst, scored } from "../history";
import { cardinality } from "../space";
import { coordinateOf, type Dimension, dimensionsOf, pointAt } from "./coordinates";
import { type Draws, drawsFor, type Sampler, type SamplerContext } from "./sampler";
import { type TpeOptions, tpeSampler } from "./tpe";

/** Attempts to draw a point inside the bounds before it is clipped. */
const maxDraws = 100;
/** Share of a step below which the standard deviation does not fall, so that whole numbers keep changing. */
const minDeviation = 0.3;

/**
 * CMA-ES (Hansen, "The CMA evolution strategy: a tutorial", 2016) on the unit cube of the numeric parameters, with
 * restarts of twice the population (IPOP; Auger and Hansen, 2005). The distribution follows from the history alone:
 * trials with a value, in the order of their numbers, form generations. A parallel trial is drawn from the last complete
 * one. Choices are those that the TPE suggests. An inactive parameter counts as the mean.
 */
export function cmaesSampler(context: SamplerContext, tpe: TpeOptions): Sampler {
  const { space, objectives, seed } = context;
  const dimensions = dimensionsOf(space);
  const chooser = tpeSampler(context, tpe);
  const numeric = dimensions.filter(({ choices, parameter }) => choices === 0 && cardinality(parameter) > 1);
  return {
    usesHistory: true,
    suggest(history, number) {
      const draws = drawsFor(seed, number);
      const strategy = new CovarianceAdaptation(numeric.length, seed);
      const known = scored(history, objectives);
      for (let from = 0; from + strategy.population <= known.length; ) {
        const generation = bestFirst(known.slice(from, from + strategy.population));
        from += strategy.population;
        strategy.tell(
          generation.map(({ trial }) => numeric.map((dimension) => coordinateOf(dimension, trial.params))),
          generation[0]?.losses[0] ?? 0,
        );
      }
      const drawn = drawInside(strategy, numeric, draws);
      const at = new Map(numeric.map((dimension, i) => [dimension.name, drawn[i] as number]));
      const chosen = numeric.length === dimensions.length ? {} : chooser.suggest(history, number)!;
      return pointAt(dimensions, (dimension) => {
        const drawnIndex = Math.floor(draws.uniform() * dimension.choices);
        return at.get(dimension.name) ?? orElse(coordinateOf(dimension, chosen), drawnIndex);
      });
    },
  };
}

function drawInside(strategy: CovarianceAdaptation, numeric: readonly Dimension[], draws: Draws): readonly number[] {
  for (let attempt = 1; ; attempt += 1) {
    const point = strategy.draw(
      draws,
      numeric.map(({ step }) => step * minDeviation),
    );
    if (point.every((x) => x >= 0 && x <= 1)) return point;
    if (attempt === maxDraws) return point.map((x) => Math.min(1, Math.max(0, x)));
  }
}

const initialSigma = 1 / 6;
/** Width of the distribution, and change of the best loss over the last generations, at which a search restarts. */
const minSigma = 1e-9;
const minChange = 1e-12;

/**
 * The state of CMA-ES. Symbols and default constants are those of Hansen's tutorial (arXiv:1604.00772, table 1), with
 * positive weights only.
 */
class CovarianceAdaptation {
  /** λ, the number of points of the next generation. */
  population: number;
  private mean: number[];
  private sigma = initialSigma;
  private covariance: number[][];
  private pathSigma: number[];
  private pathC: number[];
  private eigen: { readonly values: readonly number[]; readonly vectors: readonly (readonly number[])[] };
  private generation = 0;
  private restarts = 0;
  private bests: number[] = [];

  constructor(
    private readonly n: number,
    private readonly seed: number,
  ) {
    this.population = 4 + Math.floor(3 * Math.log(Math.max(1, n)));
    this.mean = Array.from({ length: n }, () => 0.5);
    this.covariance = identity(n);
    this.pathSigma = zeros(n);
    this.pathC = zeros(n);
    this.eigen = { values: this.mean.map(() => 1), vectors: identity(n) };
  }

  /** Draws a point, which may lie outside of [0, 1]. @param minima least standard deviation of each coordinate */
  draw(draws: Draws, minima: readonly number[]): readonly number[] {
    const { values, vectors } = this.eigen;
    const z = values.map((value) => Math.sqrt(value) * draws.normal());
    return this.mean.map((mean, i) => {
      const deviation = this.sigma * dot(vectors[i] as readonly number[], z);
      const usual = this.sigma * Math.sqrt((this.covariance[i] as number[])[i] as number);
      return mean + deviation * Math.max(1, (minima[i] as number) / usual);
    });
  }

  /**
   * Takes the results of a generation.
   *
   * @param points best first; NaN counts as the mean
   * @param best the best loss
   */
  tell(points: readonly (readonly number[])[], best: number): void {
    const { n } = this;
    if (n === 0) return;
    const mu = Math.floor(points.length / 2);
    const raw = Array.from({ length: mu }, (_, i) => Math.log((points.length + 1) / 2) - Math.log(i + 1));
    const total = raw.reduce((sum, w) => sum + w, 0);
    const weights = raw.map((w) => w / total);
    const muEff = 1 / weights.reduce((sum, w) => sum + w * w, 0);
    const cSigma = (muEff + 2) / (n + muEff + 5);
    const dSigma = 1 + 2 * Math.max(0, Math.sqrt((muEff - 1) / (n + 1)) - 1) + cSigma;
    const cC = (4 + muEff / n) / (n + 4 + (2 * muEff) / n);
    const c1 = 2 / ((n + 1.3) ** 2 + muEff);
    const cMu = Math.min(1 - c1, (2 * (muEff - 2 + 1 / muEff)) / ((n + 2) ** 2 + muEff));
    const chiN = Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));

    this.generation += 1;
    const y = points.slice(0, mu).map((point) => this.mean.map((m, i) => (orElse(point[i], m) - m) / this.sigma));
    const step = this.mean.map((_, i) =>
      y.reduce((sum, one, k) => sum + (weights[k] as number) * (one[i] as number), 0),
    );
    this.mean = this.mean.map((m, i) => Math.min(1, Math.max(0, m + this.sigma * (step[i] as number))));

    const whitened = this.whiten(step);
    const along = Math.sqrt(cSigma * (2 - cSigma) * muEff);
    this.pathSigma = this.pathSigma.map((p, i) => (1 - cSigma) * p + along * (whitened[i] as number));
    const length = Math.hypot(...this.pathSigma);
    const stalls = length / Math.sqrt(1 - (1 - cSigma) ** (2 * this.generation)) >= (1.4 + 2 / (n + 1)) * chiN;
    const h = stalls ? 0 : 1;
    const alongC = h * Math.sqrt(cC * (2 - cC) * muEff);
    this.pathC = this.pathC.map((p, i) => (1 - cC) * p + alongC * (step[i] as number));
    const kept = 1 - c1 - cMu + (1 - h) * c1 * cC * (2 - cC);
    for (const [i, row] of this.covariance.entries()) {
      for (let j = 0; j < n; j += 1) {
        const rankOne = (this.pathC[i] as number) * (this.pathC[j] as number);
        const rankMu = y.reduce((s, one, k) => s + (weights[k] as number) * (one[i] as number) * (one[j] as number), 0);
        row[j] = kept * (row[j] as number) + c1 * rankOne + cMu * rankMu;
      }
    }
    this.sigma = Math.min(1, this.sigma * Math.exp((cSigma / dSigma) * (length / chiN - 1)));
    // The decomposition costs n³; the covariance changes slowly in high dimensions.
    if (this.generation % Math.max(1, Math.floor(1 / (10 * n * (c1 + cMu)))) === 0)
      this.eigen = eigenOf(this.covariance);
    this.restartIfStuck(best);
  }

  /** Returns C^(−1/2) times a vector. */
  private whiten(vector: readonly number[]): readonly number[] {
    const { values, vectors } = this.eigen;
    const rotated = values.map((value, k) => {
      const along = vector.reduce((sum, x, i) => sum + x * ((vectors[i] as readonly number[])[k] as number), 0);
      return along / Math.sqrt(value);
    });
    return vectors.map((row) => dot(row, rotated));
  }

  private restartIfStuck(best: number): void {
    this.bests.push(best);
    const window = this.bests.slice(-(10 + Math.ceil((30 * this.n) / this.population)));
    const isFlat = this.bests.length > window.length && Math.max(...window) - Math.min(...window) < minChange;
    const width = this.sigma * Math.sqrt(Math.max(...this.eigen.values));
    if (width > minSigma && !isFlat) return;
    this.restarts += 1;
    const draws = drawsFor(this.seed, -1, this.restarts);
    this.population *= 2;
    this.mean = this.mean.map(() => draws.uniform());
    this.sigma = initialSigma;
    this.covariance = identity(this.n);
    this.eigen = { values: this.mean.map(() => 1), vectors: identity(this.n) };
    this.pathSigma = zeros(this.n);
    this.pathC = zeros(this.n);
    this.generation = 0;
    this.bests = [];
  }
}

const zeros = (n: number): number[] => Array.from({ length: n }, () => 0);
const identity = (n: number): number[][] => zeros(n).map((_, i) => zeros(n).map((_, j) => (i === j ? 1 : 0)));
const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
const orElse = (value: number | undefined, other: number): number =>
  value === undefined || Number.isNaN(value) ? other : value;

const maxSweeps = 60;

/**
 * Returns eigenvalues and eigenvectors (columns) of a symmetric matrix, by cyclic Jacobi rotations (Golub and Van Loan,
 * "Matrix computations", 8.5). Eigenvalues are at least 1e-20 times the largest, so that their roots can be inverted.
 */
export function eigenOf(matrix: readonly (readonly number[])[]) {
  const n = matrix.length;
  const a = matrix.map((row) => [...row]);
  const v = matrix.map((_, i) => matrix.map((_, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < maxSweeps && offDiagonal(a) > 1e-30 * trace(a) ** 2; sweep += 1) {
    for (let p = 0; p < n; p += 1) for (let q = p + 1; q < n; q += 1) rotate(a, v, p, q);
  }
  const values = a.map((row, i) => row[i] as number);
  const least = 1e-20 * Math.max(...values, 1e-200);
  return { values: values.map((value) => Math.max(value, least)), vectors: v };
}

function rotate(a: number[][], v: number[][], p: number, q: number): void {
  const [rowP, rowQ] = [a[p] as number[], a[q] as number[]];
  const apq = rowP[q] as number;
  if (apq === 0) return;
  const theta = ((rowQ[q] as number) - (rowP[p] as number)) / (2 * apq);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (const row of a) rotatePair(row, p, q, c, s);
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [rowP[i] as number, rowQ[i] as number];
    rowP[i] = c * x - s * y;
    rowQ[i] = s * x + c * y;
  }
  for (const row of v) rotatePair(row, p, q, c, s);
}

function rotatePair(row: number[], p: number, q: number, c: number, s: number): void {
  const [x, y] = [row[p] as number, row[q] as number];
  row[p] = c * x - s * y;
  row[q] = s * x + c * y;
}

function offDiagonal(a: readonly (readonly number[])[]): number {
  return a.reduce((sum, row, i) => sum + row.reduce((all, x, j) => (i === j ? all : all + x * x), 0), 0);
}

function trace(a: readonly (readonly number[])[]): number {
  return a.reduce((sum, row, i) => sum + (row[i] as number), 0);
}
