/**
 * A pool of at most `limit` buffers of one size, which are created on demand and reused. It bounds the memory of
 * concurrent uploads. Callers without a free buffer wait in order.
 */
export class BufferPool {
  private readonly free: Buffer[] = [];
  private readonly waiting: ((buffer: Buffer) => void)[] = [];
  private made = 0;

  constructor(
    private readonly size: number,
    private readonly limit: number,
  ) {}

  async take(): Promise<Buffer> {
    const buffer = this.free.pop();
    if (buffer) return buffer;
    if (this.made < this.limit) return this.make();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  give(buffer: Buffer): void {
    const next = this.waiting.shift();
    if (next) next(buffer);
    else this.free.push(buffer);
  }

  /** Records that a taken buffer will not be returned. */
  lose(): void {
    this.made -= 1;
    const next = this.waiting.shift();
    if (next) next(this.make());
  }

  private make(): Buffer {
    this.made += 1;
    return Buffer.allocUnsafeSlow(this.size);
  }
}
