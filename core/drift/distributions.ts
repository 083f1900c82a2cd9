/** Tail probabilities of the distributions that drift tests compare with. */

const { abs, ceil, exp, floor, log, max, min, PI, round, sqrt } = Math;

/** Coefficients of Lanczos' approximation of the gamma function with g = 7; relative error below 1e-15. */
const lanczos = [
  0.999_999_999_999_809_9, 676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_1,
  -176.615_029_162_140_6, 12.507_343_278_686_905, -0.138_571_095_265_720_12, 9.984_369_578_019_572e-6,
  1.505_632_735_149_311_6e-7,
];

/** Returns ln Γ(a), a > 0. */
function logGamma(a: number): number {
  const at = a - 1;
  const sum = lanczos.reduce((total, coefficient, k) => total + (k === 0 ? coefficient : coefficient / (at + k)), 0);
  const t = at + 7.5;
  return 0.5 * log(2 * PI) + (at + 0.5) * log(t) - t + log(sum);
}

const precision = 1e-16;
const maxTerms = 10_000;

/** Returns Q(a, x) = Γ(a, x) / Γ(a), by its series for small x and by Lentz's continued fraction for large x. */
function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const scale = exp(a * log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < maxTerms && abs(term) > precision * sum; n += 1) {
      term *= x / (a + n);
      sum += term;
    }
    return max(0, 1 - scale * sum);
  }
  let b = x + 1 - a;
  let c = 1 / Number.MIN_VALUE ** 0.5;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < maxTerms; n += 1) {
    const numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= c * d;
    if (abs(c * d - 1) < precision) break;
  }
  return scale * fraction;
}

/** Returns the probability that a χ² variable with these degrees of freedom is above a value. */
export function chiSquareTail(value: number, degrees: number): number {
  return degrees === 0 ? 1 : upperGamma(degrees / 2, value / 2);
}

/**
 * Returns the two-sided p-value of Fisher's exact test: the probability of all 2 × 2 tables with these margins that are at
 * most as probable as the given one.
 *
 * @param hits marked rows of a sample
 * @param marked marked rows of all rows
 */
export function fisherTail(hits: number, sample: number, marked: number, all: number): number {
  const ways = (from: number, chosen: number) =>
    logGamma(from + 1) - logGamma(chosen + 1) - logGamma(from - chosen + 1);
  const total = ways(all, sample);
  const logOf = (count: number) => ways(marked, count) + ways(all - marked, sample - count) - total;
  // Tables of one probability differ by rounding.
  const limit = logOf(hits) + 1e-6;
  let tail = 0;
  for (let count = max(0, sample + marked - all); count <= min(sample, marked); count += 1) {
    const probability = logOf(count);
    if (probability <= limit) tail += exp(probability);
  }
  return min(1, tail);
}

/** Up to this size of the larger sample the two-sample distribution is computed exactly, as in SciPy. */
const exactSize = 10_000;
/** Beyond z = 6 the probability is below 1e-31, and the distributions have no digits left of it. */
const certainZ = 6;
/** Below, 1 minus a probability has lost its digits. */
const smallestComplement = 1e-12;

/**
 * Returns the probability that the Kolmogorov–Smirnov statistic of two samples of one distribution is at least
 * `statistic`. Exact for samples of up to 10,000 values. For larger ones, the one-sample distribution for n = n₁n₂ / (n₁ +
 * n₂), as SciPy's `ks_2samp` has it. A probability below 1e-12 is the first term of Kolmogorov's series, which is above it.
 */
export function kolmogorovTail(statistic: number, first: number, second: number): number {
  if (statistic <= 0) return 1;
  const effective = (first * second) / (first + second);
  const limit = 2 * exp(-2 * effective * statistic ** 2);
  if (sqrt(effective) * statistic > certainZ) return limit;
  const probability =
    max(first, second) <= exactSize
      ? outsideProbability(statistic, first, second)
      : 1 - oneSampleProbability(roundHalfToEven(effective), statistic);
  return probability > smallestComplement ? min(1, probability) : min(limit, smallestComplement);
}

function roundHalfToEven(value: number): number {
  const whole = floor(value);
  return value - whole === 0.5 ? whole + (whole % 2) : round(value);
}

/**
 * Returns the probability that a random order of two samples leaves the band |i/m − j/n| < statistic. Follows the lattice
 * paths from (0, 0) to (m, n) row by row. A step raises i with probability m / (m + n), otherwise j, independently of the
 * others: then all paths to (m, n) have the same probability, and no step needs a division.
 */
function outsideProbability(statistic: number, first: number, second: number): number {
  const [m, n] = [min(first, second), max(first, second)];
  const [up, along] = [m / (m + n), n / (m + n)];
  // Distances are multiples of 1 / (m n). A path may come as near as the multiple below the statistic.
  const widest = (0.5 + floor(statistic * m * n - 1e-7)) / (m * n);
  /** The probability to visit (i, j), inside the band so far. Outside the band of a row it is 0, or not read again. */
  const at = new Float64Array(n + 1);
  // The first row has no row below it.
  at[0] = 1 / up;
  for (let i = 0; i <= m; i += 1) {
    const lowest = max(0, ceil(n * (i / m - widest)));
    const highest = min(n, floor(n * (i / m + widest)));
    let before = 0;
    for (let j = lowest; j <= highest; j += 1) {
      before = up * at[j]! + along * before;
      at[j] = before;
    }
  }
  return 1 - at[n]! / visitProbability(m, n);
}

/** Returns the probability that these independent steps visit (m, n). */
function visitProbability(m: number, n: number): number {
  const [up, along] = [m / (m + n), n / (m + n)];
  let probability = 1;
  let left = n;
  for (let i = 1; i <= m; i += 1) {
    probability *= (up * (n + i)) / i;
    // The product stays near 1, so that it cannot overflow.
    for (; probability > 1 && left > 0; left -= 1) probability *= along;
  }
  return probability * along ** left;
}

/**
 * Returns P(Dₙ < d) of the one-sample statistic by the expansion of Pelz and Good (1976) in powers of n^-½; error below
 * 1e-10 for the sizes that need it.
 */
function oneSampleProbability(n: number, statistic: number): number {
  const z = sqrt(n) * statistic;
  if (z < 0.2) return 0;
  const [z2, z4, z6] = [z ** 2, z ** 4, z ** 6];
  const [pi2, pi4, pi6] = [PI ** 2, PI ** 4, PI ** 6];
  let [k0, k1, k2, k3] = [0, 0, 0, 0];
  let [k2Even, k3Even] = [0, 0];
  for (let k = 0; k <= ceil((16 * z) / PI); k += 1) {
    const half = (k + 0.5) ** 2;
    const q = exp((-pi2 * half) / (2 * z2));
    k0 += q;
    k1 += (pi2 * half - z2) * q;
    k2 += (6 * z6 + 2 * z4 + pi2 * (2 * z4 - 5 * z2) * half + pi4 * (1 - 2 * z2) * half ** 2) * q;
    k3 +=
      (pi6 * half ** 3 * (5 - 30 * z2) +
        pi4 * half ** 2 * (-60 * z2 + 212 * z4) +
        pi2 * half * (135 * z4 - 96 * z6) -
        30 * z6 -
        90 * z4 ** 2) *
      q;
    const whole = k ** 2;
    const even = exp((-pi2 * whole) / (2 * z2));
    k2Even += pi2 * whole * even;
    k3Even += (3 * pi2 * whole * z2 - pi4 * whole ** 2) * even;
  }
  const root = sqrt(2 * PI);
  // Sums over all integers k are twice those over k ≥ 0.
  const terms = [
    (root / z) * k0,
    (root / (6 * z4)) * k1,
    (root / (72 * z ** 7)) * k2 - (root / (36 * z ** 3)) * k2Even,
    (root / (6_480 * z ** 10)) * k3 + (root / (216 * z6)) * k3Even,
  ];
  return terms.reduce((sum, term, power) => sum + term / n ** (power / 2), 0);
}

/** The probability that a random positive row has a higher score than a random negative one, and its standard error. */
export interface Auc {
  readonly auc: number;
  readonly error: number;
}

/**
 * Estimates the area under the ROC curve with the standard error of DeLong, DeLong and Clarke-Pearson (1988), from
 * midranks as in Sun and Xu (2014). A tie counts one half.
 *
 * @param isPositive 1 for positive rows; both kinds have at least two rows
 */
export function aucOf(scores: Float64Array, isPositive: Uint8Array): Auc {
  const order = Uint32Array.from(scores, (_score, row) => row).sort((a, b) => scores[a]! - scores[b]!);
  const positives = isPositive.reduce((sum, one) => sum + one, 0);
  const negatives = scores.length - positives;
  /** Sums of the placements of both kinds: the share of the other kind below a row. */
  const placements = [new Placements(), new Placements()] as const;
  let [positivesBelow, negativesBelow] = [0, 0];
  for (let from = 0; from < order.length; ) {
    let to = from;
    let [tiedPositives, tiedNegatives] = [0, 0];
    while (to < order.length && scores[order[to]!] === scores[order[from]!]) {
      if (isPositive[order[to]!] === 1) tiedPositives += 1;
      else tiedNegatives += 1;
      to += 1;
    }
    placements[1].add((negativesBelow + tiedNegatives / 2) / negatives, tiedPositives);
    placements[0].add(1 - (positivesBelow + tiedPositives / 2) / positives, tiedNegatives);
    positivesBelow += tiedPositives;
    negativesBelow += tiedNegatives;
    from = to;
  }
  const variance = placements[1].variance() / positives + placements[0].variance() / negatives;
  return { auc: placements[1].mean(), error: Math.sqrt(variance) };
}

/** Count, mean and variance of repeated values. */
class Placements {
  private count = 0;
  private sum = 0;
  private squares = 0;

  add(value: number, times: number): void {
    this.count += times;
    this.sum += times * value;
    this.squares += times * value ** 2;
  }

  mean(): number {
    return this.sum / this.count;
  }

  variance(): number {
    return Math.max(0, this.squares - this.sum ** 2 / this.count) / (this.count - 1);
  }
}

/** Returns the probability that a standard normal variable is above a value. */
export function normalTail(value: number): number {
  const outside = chiSquareTail(value ** 2, 1) / 2;
  return value >= 0 ? outside : 1 - outside;
}
