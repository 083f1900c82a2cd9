export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private unfinished = 0;

  /** Whether no job runs or waits. */
  get idle(): boolean {
    return this.unfinished === 0;
  }

  /** Settles as the job does. A failed job does not stop the queue. */
  run<T>(job: () => Promise<T>): Promise<T> {
    this.unfinished += 1;
    const done = this.last.then(job).finally(() => {
      this.unfinished -= 1;
    });
    this.last = done.catch(() => undefined);
    return done;
  }

  async drain(): Promise<void> {
    await this.last;
  }
}
