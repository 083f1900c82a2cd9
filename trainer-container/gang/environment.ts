import { type Heartbeat, ThreadHeartbeat } from "../collective/heartbeat";
import { Listener, type ListenerOptions } from "../collective/listener";
import { Mesh, type MeshOptions } from "../collective/mesh";

/** Timers, randomness and sockets of a gang. A simulation replaces them by virtual time and links. */
export interface GangEnvironment {
  readonly timers: GangTimers;
  listen(options: ListenerOptions): Promise<Listener>;
  openMesh(options: MeshOptions): Promise<Mesh>;
  createHeartbeat(): Heartbeat & { start(): void };
}

export interface GangTimers {
  /** Monotonic milliseconds. */
  now(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Runs once. @returns a function that cancels it */
  after(ms: number, run: () => void): () => void;
  /** Runs repeatedly without keeping the process alive. @returns a function that stops it */
  every(ms: number, run: () => void): () => void;
}

const processTimers: GangTimers = {
  now: () => performance.now(),
  random: Math.random,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every: (ms, run) => {
    const timer = setInterval(run, ms).unref();
    return () => clearInterval(timer);
  },
};

export const processEnvironment: GangEnvironment = {
  timers: processTimers,
  listen: (options) => Listener.start(options),
  openMesh: (options) => Mesh.open(options),
  createHeartbeat: () => new ThreadHeartbeat(),
};

/** A sleep that a ring ends early. A ring before the sleep also counts. */
export class Alarm {
  private wake: (() => void) | undefined;
  private rung = false;

  constructor(private readonly timers: GangTimers = processTimers) {}

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  async sleep(ms: number): Promise<void> {
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        const cancel = this.timers.after(ms, resolve);
        this.wake = () => {
          cancel();
          resolve();
        };
      });
    }
    this.wake = undefined;
    this.rung = false;
  }
}

/** Rejects if `work` takes too long: a dead connection to the store must not block a gang. */
export async function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  what: string,
  timers: GangTimers = processTimers,
): Promise<T> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = timers.after(ms, () => reject(new Error(`${what} did not answer within ${ms} ms`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
