import { type Pulse, ThreadPulse } from "../collective/heartbeat";
import { Listener, type ListenerOptions } from "../collective/listener";
import { Mesh, type MeshOptions } from "../collective/mesh";

/** What a gang takes from its process besides store and clock. A simulation puts virtual time and links in its place. */
export interface GangEnvironment {
  readonly timers: GangTimers;
  listen(options: ListenerOptions): Promise<Listener>;
  openMesh(options: MeshOptions): Promise<Mesh>;
  createPulse(): Pulse & { start(): void };
}

export interface GangTimers {
  /** Monotonic milliseconds. */
  now(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Runs once; answers how to call it off. */
  after(ms: number, run: () => void): () => void;
  /** Runs again and again, without keeping the process alive; answers how to stop it. */
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
  createPulse: () => new ThreadPulse(),
};
