/** The recent maximum: each smaller measurement reduces it by a tenth of the difference. */
export class Slowest {
  private ms = 0;

  get value(): number {
    return this.ms;
  }

  add(ms: number): void {
    this.ms = Math.max(ms, this.ms * 0.9);
  }
}
