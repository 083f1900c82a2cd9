/**
 * Computes mean and deviation in one pass, without the cancellation of a sum of squares: Welford's recurrence, and
 * Chan, Golub and LeVeque's merge of parts (Updating Formulae and a Pairwise Algorithm for Computing Sample Variances,
 * 1979).
 */
export class RunningStats {
  #count = 0;
  #mean = 0;
  /** Sum of squared differences from the mean. */
  #squares = 0;

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    this.#count += 1;
    const difference = value - this.#mean;
    this.#mean += difference / this.#count;
    this.#squares += difference * (value - this.#mean);
  }

  /** Adds `values[start … start + length)`. */
  addAll(values: ArrayLike<number>, start: number, length: number): void {
    if (length === 0) return;
    let sum = 0;
    for (let i = start; i < start + length; i += 1) sum += values[i]!;
    const mean = sum / length;
    let squares = 0;
    for (let i = start; i < start + length; i += 1) squares += (values[i]! - mean) ** 2;
    const count = this.#count + length;
    const difference = mean - this.#mean;
    this.#squares += squares + difference * difference * ((this.#count * length) / count);
    this.#mean += (difference * length) / count;
    this.#count = count;
  }

  get mean(): number {
    return this.#mean;
  }

  /** Population standard deviation; 1 if all values are equal, so that it is always a valid divisor. */
  get deviation(): number {
    const deviation = this.#count === 0 ? 0 : Math.sqrt(this.#squares / this.#count);
    // In a constant column rounding leaves a tiny variance, which must not become a divisor.
    return deviation > Math.abs(this.#mean) * 1e-12 ? deviation : 1;
  }
}
