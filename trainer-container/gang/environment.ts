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

export const processTimers: GangTimers = {
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
