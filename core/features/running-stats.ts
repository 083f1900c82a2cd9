export interface StatsState {
  readonly count: number;
  readonly mean: number;
  /** Sum of squared differences from the mean. */
  readonly squares: number;
}

/**
 * Computes mean and deviation in one pass, without the cancellation of a sum of squares: Welford's recurrence, and
 * Chan, Golub and LeVeque's merge of parts (Updating Formulae and a Pairwise Algorithm for Computing Sample Variances,
 * 1979).
 */
export class RunningStats {
  private seen = 0;
  private average = 0;
  private squares = 0;

  get count(): number {
    return this.seen;
  }

  add(value: number): void {
    this.seen += 1;
    const difference = value - this.average;
    this.average += difference / this.seen;
    this.squares += difference * (value - this.average);
  }

  /** Adds `values[start … start + length)`. */
  addAll(values: ArrayLike<number>, start: number, length: number): void {
    if (length === 0) return;
    let sum = 0;
    for (let i = start; i < start + length; i += 1) sum += values[i]!;
    const mean = sum / length;
    let squares = 0;
    for (let i = start; i < start + length; i += 1) squares += (values[i]! - mean) ** 2;
    const count = this.seen + length;
    const difference = mean - this.average;
    this.squares += squares + difference * difference * ((this.seen * length) / count);
    this.average += (difference * length) / count;
    this.seen = count;
  }

  merge({ count: added, mean, squares }: StatsState): void {
    if (added === 0) return;
    if (this.seen === 0) {
      this.seen = added;
      this.average = mean;
      this.squares = squares;
      return;
    }
    const count = this.seen + added;
    const difference = mean - this.average;
    this.squares += squares + difference * difference * ((this.seen * added) / count);
    this.average += (difference * added) / count;
    this.seen = count;
  }

  state(): StatsState {
    return { count: this.seen, mean: this.average, squares: this.squares };
  }

  get mean(): number {
    return this.average;
  }

  /** Population standard deviation; 1 if all values are equal, so that it is always a valid divisor. */
  get deviation(): number {
    const deviation = this.seen === 0 ? 0 : Math.sqrt(this.squares / this.seen);
    // In a constant column rounding leaves a tiny variance, which must not become a divisor.
    return deviation > Math.abs(this.average) * 1e-12 ? deviation : 1;
  }
}
