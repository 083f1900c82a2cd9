/** The slowest of late: each measurement that is faster forgets a tenth of it. */
export class Slowest {
  private ms = 0;

  get value(): number {
    return this.ms;
  }

  add(ms: number): void {
    this.ms = Math.max(ms, this.ms * 0.9);
  }
}
