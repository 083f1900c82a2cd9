import { GenerationLostError } from "../../../trainer-container/collective/errors";
import type { Listener } from "../../../trainer-container/collective/listener";
import type { Mesh, MeshOptions } from "../../../trainer-container/collective/mesh";
import type { VirtualTime } from "./virtual-time";

const dialMs = 1;
const hopMs = 0.5;
/** Processor time of one connection on either side: TCP, hello, checks. */
const connectionCpuMs = 0.15;

/** Returns the ranks to which a rank is connected. */
export type Topology = (worldSize: number, rank: number) => readonly number[];

/**
 * Sockets of whole processes, reduced to what the rendezvous notices: whether all neighbours joined the generation, that a
 * caller is ahead, and how the report of a loss spreads from neighbour to neighbour.
 */
export class SimulatedNetwork {
  private readonly listeners = new Map<number, SimulatedListener>();
  private readonly open = new Map<number, Map<number, SimulatedMesh>>();
  private ports = 0;

  constructor(
    readonly time: VirtualTime,
    readonly topology: Topology,
  ) {}

  listen(): SimulatedListener {
    const listener = new SimulatedListener(++this.ports);
    this.listeners.set(listener.port, listener);
    return listener;
  }

  openMesh(options: MeshOptions): Promise<SimulatedMesh> {
    return new Promise((resolve, reject) => {
      const mesh = new SimulatedMesh(this, options, resolve, reject);
      const meshes = this.open.get(options.generation) ?? new Map<number, SimulatedMesh>();
      this.open.set(options.generation, meshes);
      meshes.set(options.rank, mesh);
      this.time.after(dialMs + mesh.neighbours.length * connectionCpuMs, () => {
        mesh.dialled = true;
        for (const rank of mesh.neighbours) {
          const near = meshes.get(rank);
          if (near) near.checkConnected();
          else this.listeners.get(options.members[rank]!.port)?.onAhead?.(options.generation);
        }
        mesh.checkConnected();
      });
    });
  }

  kill(port: number): void {
    this.listeners.delete(port);
    for (const meshes of this.open.values()) {
      for (const mesh of meshes.values()) if (mesh.port === port && !mesh.lost) mesh.die();
    }
  }

  meshOf(generation: number, rank: number): SimulatedMesh | undefined {
    return this.open.get(generation)?.get(rank);
  }

  forget(mesh: SimulatedMesh): void {
    const meshes = this.open.get(mesh.options.generation);
    if (meshes?.get(mesh.options.rank) === mesh) meshes.delete(mesh.options.rank);
  }
}

class SimulatedListener implements Pick<Listener, "port" | "openFor" | "close" | "onAhead"> {
  onAhead: ((generation: number) => void) | undefined;

  constructor(readonly port: number) {}

  openFor(): () => void {
    return () => {};
  }

  close(): void {}
}

/** The part of a mesh that a training generation uses. Sums are simulated elsewhere. */
export class SimulatedMesh implements Pick<Mesh, "options" | "worldSize" | "bytesSent" | "abort" | "close"> {
  readonly neighbours: readonly number[];
  readonly worldSize: number;
  readonly bytesSent = 0;
  readonly port: number;
  lost: GenerationLostError | undefined;
  onShut: (() => void) | undefined;
  onLost: ((error: GenerationLostError) => void) | undefined;
  dialled = false;
  private connected = false;
  private dead = false;
  private readonly giveUp: () => void;

  constructor(
    private readonly network: SimulatedNetwork,
    readonly options: MeshOptions,
    private readonly resolve: (mesh: SimulatedMesh) => void,
    private readonly reject: (error: GenerationLostError) => void,
  ) {
    this.worldSize = options.members.length;
    this.port = options.members[options.rank]!.port;
    this.neighbours = network.topology(this.worldSize, options.rank);
    this.giveUp = network.time.after(options.timing.connectMs, () => {
      const missing = this.neighbours.find((rank) => !network.meshOf(options.generation, rank)?.dialled);
      this.lose(new GenerationLostError(options.generation, missing, "not connected in time"));
    });
  }

  checkConnected(): void {
    if (this.connected || this.lost || !this.dialled) return;
    const { generation } = this.options;
    if (!this.neighbours.every((rank) => this.network.meshOf(generation, rank)?.dialled)) return;
    this.connected = true;
    this.giveUp();
    this.resolve(this);
  }

  abort(error: GenerationLostError): void {
    this.lose(error);
  }

  close(): void {
    this.lose(new GenerationLostError(this.options.generation, undefined, "it was closed here"));
  }

  die(): void {
    this.dead = true;
    this.lose(new GenerationLostError(this.options.generation, undefined, "killed"));
  }

  private lose(error: GenerationLostError): void {
    if (this.lost) return;
    this.lost = error;
    this.giveUp();
    this.network.forget(this);
    const { generation, rank } = this.options;
    const culprit = this.dead ? rank : error.rank;
    this.network.time.after(hopMs, () => {
      for (const near of this.neighbours) {
        const report = new GenerationLostError(generation, culprit, `rank ${rank} reported it`);
        this.network.meshOf(generation, near)?.lose(report);
      }
    });
    if (this.dead) return;
    if (!this.connected) this.reject(error);
    this.onShut?.();
    this.onLost?.(error);
  }
}
