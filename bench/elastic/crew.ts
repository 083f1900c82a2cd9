import { setTimeout as sleep } from "node:timers/promises";
import { Worker, type WorkerOptions } from "./worker";

/** `retry` of the trainer's exit codes. */
const retryCode = 75;

/**
 * The workers of one run, supervised like Batch: each index is a job. A job whose process exits with "try again" gets its next
 * attempt. A killed one gets it if the trial says so.
 */
export class Crew {
  readonly workers: Worker[] = [];
  readonly failures: string[] = [];
  private readonly attempts = new Map<number, number>();
  private readonly watchers = new Set<() => void>();
  private open = 0;
  private closed = false;

  constructor(
    private readonly options: Omit<WorkerOptions, "workerIndex" | "attempt" | "clockOffsetMs">,
    private readonly clockOffsetMs: (workerIndex: number) => number = () => 0,
  ) {}

  start(workerIndex: number): Worker {
    const attempt = (this.attempts.get(workerIndex) ?? 0) + 1;
    this.attempts.set(workerIndex, attempt);
    const options = { ...this.options, workerIndex, attempt, clockOffsetMs: this.clockOffsetMs(workerIndex) };
    const worker = new Worker(options, () => this.look());
    this.workers.push(worker);
    this.open += 1;
    void worker.ended.then((end) => {
      if (end === retryCode && !this.closed) this.start(workerIndex);
      else if (end !== 0 && worker.killedAt === undefined) this.failures.push(`${worker.memberId} ended with ${end}`);
      this.open -= 1;
      this.look();
    });
    return worker;
  }

  startLater(workerIndex: number, afterMs: number): void {
    this.open += 1;
    void sleep(afterMs).then(() => {
      if (!this.closed) this.start(workerIndex);
      this.open -= 1;
      this.look();
    });
  }

  get live(): readonly Worker[] {
    return this.workers.filter(({ running, killedAt }) => running && killedAt === undefined);
  }

  get finishedSteps(): number {
    return Math.max(0, ...this.workers.map(({ steps }) => steps.at(-1)?.step ?? 0));
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition() && this.open > 0) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.watchers.delete(wake);
          resolve();
        };
        this.watchers.add(wake);
      });
    }
  }

  async over(withinMs: number): Promise<boolean> {
    const deadline = new AbortController();
    const late = sleep(withinMs, false, { signal: deadline.signal }).catch(() => false);
    const ended = this.until(() => this.open === 0).then(() => true);
    const inTime = await Promise.race([ended, late]);
    deadline.abort();
    return inTime;
  }

  async end(): Promise<void> {
    this.closed = true;
    for (const worker of this.workers.filter(({ running }) => running)) worker.kill();
    await Promise.all(this.workers.map(({ ended }) => ended));
  }

  transcript(): string {
    return this.workers
      .flatMap(({ memberId, lines }) =>
        lines.filter((line) => !line.includes('"step finished"')).map((line) => ({ memberId, line })),
      )
      .map(({ memberId, line }) => ({ memberId, line, time: /"time":"([^"]*)"/.exec(line)?.[1] ?? "" }))
      .sort((a, b) => (a.time < b.time ? -1 : 1))
      .map(({ memberId, line }) => `${memberId} ${line}`)
      .join("\n");
  }

  private look(): void {
    for (const wake of [...this.watchers]) wake();
  }
}
