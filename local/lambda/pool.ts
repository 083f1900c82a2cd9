import { randomUUID } from "node:crypto";
import type { Clock } from "../clock";
import type { LogAppender } from "../service";
import { ExecutionEnvironment } from "./environment";
import type { FunctionConfig, InvocationOutcome } from "./types";

export interface PoolOptions {
  readonly runtimePath: string;
  readonly clock: Clock;
  readonly logs?: LogAppender;
  readonly maxEnvironments: number;
  /** The number of environments of one function that may start at once. */
  readonly maxStarting: number;
  readonly idleMs: number;
}

interface Idle {
  readonly environment: ExecutionEnvironment;
  readonly cancelReaping: () => void;
}

/**
 * The time for which an invocation waits for a busy environment before another one starts. Most invocations are shorter,
 * and a start takes about as long.
 */
const patienceMs = 300;

type Taker = (environment: ExecutionEnvironment | undefined) => void;

/**
 * The execution environments of one function. Each serves one invocation at a time. There are at most
 * `maxEnvironments`, and an environment that was idle for `idleMs` is removed.
 *
 * An invocation uses the first environment that becomes free, new or not. A start costs more processor time than most
 * invocations, so another environment starts only after `patienceMs`, and a burst does not start one for each invocation.
 */
export class FunctionPool {
  /**
   * The idle environments. The most recently used one is last and is used first, so that the others can reach the idle
   * limit.
   */
  private readonly idle: Idle[] = [];
  private readonly all = new Set<ExecutionEnvironment>();
  private readonly waiting: (() => void)[] = [];
  private readonly takers: Taker[] = [];
  private starting = 0;
  private busy = 0;
  private closed = false;

  constructor(
    readonly config: FunctionConfig,
    private readonly options: PoolOptions,
  ) {}

  /** Invokes the function with JSON text. Rejects only if the service is closing. */
  async invoke(payload: string): Promise<InvocationOutcome & { readonly requestId: string }> {
    if (this.busy >= this.options.maxEnvironments) await new Promise<void>((turn) => this.waiting.push(turn));
    else this.busy += 1;
    const environment = this.closed ? undefined : await this.take();
    if (!environment) throw new Error(`Lambda is shutting down; '${this.config.name}' was not invoked.`);
    const requestId = randomUUID();
    const outcome = await environment.invoke(requestId, payload);
    this.release(environment);
    return { ...outcome, requestId };
  }

  get environments(): number {
    return this.all.size;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { cancelReaping } of this.idle) cancelReaping();
    for (const turn of this.waiting.splice(0)) turn();
    for (const taker of this.takers.splice(0)) taker(undefined);
    await Promise.all([...this.all].map((environment) => environment.kill()));
  }

  private async take(): Promise<ExecutionEnvironment | undefined> {
    for (;;) {
      const idle = this.idle.pop();
      if (!idle) break;
      idle.cancelReaping();
      if (!idle.environment.dead) return idle.environment;
    }
    return new Promise((taken) => {
      this.takers.push(taken);
      if (this.all.size === 0) this.startMore();
      else this.startLater();
    });
  }

  private startLater(): void {
    this.options.clock.schedule(patienceMs, () => this.startMore());
  }

  private startMore(): void {
    while (this.starting < Math.min(this.options.maxStarting, this.takers.length)) {
      const environment = new ExecutionEnvironment(this.config, this.options);
      this.starting += 1;
      this.all.add(environment);
      void environment.ended.then(() => this.all.delete(environment));
      void environment.started.then(() => {
        this.starting -= 1;
        this.offer(environment);
        if (this.takers.length > 0) this.startLater();
      });
    }
  }

  private offer(environment: ExecutionEnvironment): void {
    const taker = this.takers.shift();
    if (taker) taker(environment);
    else if (!environment.dead && !this.closed) {
      const cancelReaping = this.options.clock.schedule(this.options.idleMs, () => {
        this.idle.splice(this.idle.indexOf(idle), 1);
        void environment.kill();
      });
      const idle = { environment, cancelReaping };
      this.idle.push(idle);
    }
  }

  private release(environment: ExecutionEnvironment): void {
    if (environment.dead) this.startMore();
    else this.offer(environment);
    // A waiting invocation replaces the one that ended, so `busy` does not change.
    const turn = this.waiting.shift();
    if (turn) turn();
    else this.busy -= 1;
  }
}
