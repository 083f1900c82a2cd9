/** A process of a model. It stops before each operation until the test lets it go on. */
export class ModelProcess {
  private resume: (() => void) | undefined;
  private reached: () => void = () => undefined;
  private ended = false;
  failure: unknown;

  /** Awaited by the process before each of its operations. A process that is never stepped again was killed there. */
  readonly turn = (): Promise<void> =>
    new Promise((resolve) => {
      this.resume = resolve;
      this.reached();
    });

  async start(work: () => Promise<unknown>): Promise<this> {
    const reached = this.next();
    work()
      .catch((error: unknown) => {
        this.failure = error;
      })
      .finally(() => {
        this.ended = true;
        this.reached();
      });
    await reached;
    return this;
  }

  get isOver(): boolean {
    return this.ended;
  }

  async step(): Promise<void> {
    if (this.ended) return;
    const reached = this.next();
    this.resume?.();
    await reached;
  }

  private next(): Promise<void> {
    return new Promise((resolve) => {
      this.reached = resolve;
    });
  }
}
