import type { Socket } from "node:net";
import { GenerationLostError, RankUnreachableError } from "./errors";
import { type FrameHeader, frameTypes, noRank } from "./frame";
import { type Heartbeat, noHeartbeatTargets } from "./heartbeat";
import { encodeHello, type Hello, type Listener, localSocketPath } from "./listener";
import { Peer } from "./peer";
import { type CollectiveTiming, heartbeatsPerSilence, looksPerSilence } from "./timing";

export interface MeshOptions {
  readonly gangId: string;
  readonly generation: number;
  readonly token: string;
  readonly rank: number;
  readonly microBatches: number;
  /** By rank, this one included. If an incarnation is given, the member's local socket is tried first. */
  readonly members: readonly { readonly host: string; readonly port: number; readonly incarnation?: string }[];
  readonly listener: Listener;
  readonly heartbeat: Heartbeat;
  readonly timing: CollectiveTiming;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly signal?: AbortSignal;
}

/** One collective operation. All ranks run the same ones in the same order. */
export interface Operation {
  /** Returns the memory of a frame's payload. @throws on a frame that violates the protocol */
  place(rank: number, header: FrameHeader): Buffer;
  complete(rank: number, header: FrameHeader): void;
  /** Whether the operation still needs frames of that rank. */
  owes(rank: number): boolean;
  /** Called when the kernel has taken all writes: operations that wait for this may end. */
  flushed(): void;
  fail(error: GenerationLostError): void;
}

const nothing = Buffer.alloc(0);

/**
 * A generation's connections, one operation at a time. `lost` is set once. A peer's end fails the running operation
 * only if it still needs that peer's data: a step whose sums have all arrived counts.
 */
export class Mesh {
  readonly worldSize: number;
  lost: GenerationLostError | undefined;
  readonly peers: readonly (Peer | undefined)[];
  /** Called after the connections are cut and the operation has failed: nothing is read into memory from then on. */
  onShut: (() => void) | undefined;
  private operation: Operation | undefined;
  private operationNumber = 0;
  private lastProgress: number;
  private closed = false;
  private readonly stopListening: () => void;
  private readonly monitor: NodeJS.Timeout;
  private readonly connecting: { resolve(): void; reject(error: Error): void };

  static open(options: MeshOptions): Promise<Mesh> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      const giveUp = () => mesh.close();
      const settled = () => signal?.removeEventListener("abort", giveUp);
      const mesh = new Mesh(options, {
        resolve: () => {
          settled();
          resolve(mesh);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      signal?.addEventListener("abort", giveUp);
      if (signal?.aborted) giveUp();
      else mesh.checkConnected();
    });
  }

  private constructor(
    readonly options: MeshOptions,
    connecting: { resolve(): void; reject(error: Error): void },
  ) {
    const { gangId, generation, token, rank, microBatches, members, timing, now } = options;
    this.worldSize = members.length;
    this.lastProgress = now();
    const hello = (kind: Hello["kind"], to: number) =>
      encodeHello({ kind, gangId, generation, token, microBatches, from: rank, to });
    this.peers = members.map(({ host, port, incarnation }, to) => {
      if (to === rank) return undefined;
      const localPath = incarnation === undefined ? undefined : localSocketPath({ incarnation, port });
      return new Peer(to, { host, port, localPath, hello: hello("data", to) }, this.eventsOf(to), now());
    });
    const connectTimer = setTimeout(() => {
      const missing = this.others().find((peer) => !peer.welcomed || !peer.outbound);
      const cause = new RankUnreachableError(timing.connectMs);
      this.depart(missing!.rank, missing!.rank, cause.message, cause);
    }, timing.connectMs);
    this.connecting = {
      resolve: () => {
        clearTimeout(connectTimer);
        connecting.resolve();
      },
      reject: (error) => {
        clearTimeout(connectTimer);
        connecting.reject(error);
      },
    };
    const watchMs = timing.silenceMs / looksPerSilence;
    this.monitor = setInterval(this.watch(watchMs), watchMs).unref();
    this.stopListening = options.listener.openFor({
      gangId,
      generation,
      token,
      rank,
      microBatches,
      worldSize: members.length,
      accept: (from, socket) => this.accept(from, socket),
    });
    const targets = members.flatMap(({ host, port }, to) =>
      to === rank ? [] : [{ host, port, hello: hello("pulse", to) }],
    );
    options.heartbeat.beat(targets, timing.silenceMs / heartbeatsPerSilence);
  }

  others(): readonly Peer[] {
    return this.peers.filter((peer) => peer !== undefined);
  }

  get bytesSent(): number {
    return this.others().reduce((sum, peer) => sum + (peer.outbound?.bytesSent ?? 0), 0);
  }

  get pendingWrites(): number {
    return this.others().reduce((sum, peer) => sum + (peer.departed ? 0 : (peer.outbound?.pending ?? 0)), 0);
  }

  /**
   * Makes this the running operation, with the frames that arrived early.
   * @throws GenerationLostError
   */
  begin(operation: Operation): number {
    if (this.lost) {
      this.shut();
      throw this.lost;
    }
    if (this.operation) throw new Error("two collective operations at once: await the first");
    this.operation = operation;
    this.lastProgress = this.options.now();
    return ++this.operationNumber;
  }

  /** After `begin`, once the operation can take frames. */
  takeHeldFrames(): void {
    for (const peer of this.others()) peer.resume();
  }

  end(operation: Operation): void {
    if (this.operation === operation) this.operation = undefined;
  }

  /** Abandons the generation. Idempotent. */
  abort(error: GenerationLostError): void {
    this.lost ??= error;
    this.shut();
  }

  /** Leaves at a step boundary. Idempotent. */
  close(): void {
    this.lost ??= new GenerationLostError(this.options.generation, undefined, "it was closed here");
    this.shut();
  }

  private shut(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.monitor);
    this.stopListening();
    this.options.heartbeat.beat(noHeartbeatTargets, 0);
    const lost = this.lost!;
    const failed = this.operation;
    this.operation = undefined;
    const orderly = failed === undefined && lost.rank === undefined;
    for (const peer of this.others()) {
      peer.departed = true;
      peer.close((outbound) =>
        outbound.send(orderly ? { type: frameTypes.bye } : { type: frameTypes.abort, slot: lost.rank ?? noRank }),
      );
    }
    this.connecting.reject(lost);
    failed?.fail(lost);
    this.onShut?.();
  }

  private accept(hello: Hello, socket: Socket): void {
    const peer = this.peers[hello.from]!;
    if (this.closed || peer.departed) {
      socket.destroy();
    } else if (hello.kind === "pulse") {
      peer.acceptHeartbeat(socket);
    } else {
      peer.acceptData(socket);
      peer.outbound!.send({ type: frameTypes.welcome });
      this.checkConnected();
    }
  }

  private checkConnected(): void {
    if (this.others().every((peer) => peer.welcomed && peer.outbound)) this.connecting.resolve();
  }

  private eventsOf(rank: number) {
    return {
      heard: () => {
        this.peers[rank]!.lastHeard = this.options.now();
      },
      place: (header: FrameHeader): Buffer | "hold" => {
        if (header.type !== frameTypes.begin && !carriesData(header)) return nothing;
        if (header.operation > this.operationNumber) return "hold";
        if (!this.operation || header.operation < this.operationNumber) {
          throw new Error(`a frame of operation ${header.operation} came when it was over`);
        }
        return this.operation.place(rank, header);
      },
      complete: (header: FrameHeader) => {
        if (header.type === frameTypes.welcome) {
          this.peers[rank]!.welcomed = true;
          this.checkConnected();
        } else if (header.type === frameTypes.bye) {
          this.depart(rank, undefined, `rank ${rank} left at a step boundary`);
        } else if (header.type === frameTypes.abort) {
          const culprit = header.slot === noRank ? undefined : header.slot;
          this.depart(rank, culprit, culprit === undefined ? `rank ${rank} gave up` : `rank ${rank} lost it`);
        } else {
          this.lastProgress = this.options.now();
          this.operation!.complete(rank, header);
        }
      },
      ended: (cause: unknown) => {
        const why = cause instanceof Error ? cause.message : "its connection closed";
        this.depart(rank, rank, why, cause);
      },
      flushed: () => this.operation?.flushed(),
    };
  }

  private depart(rank: number, culprit: number | undefined, reason: string, cause?: unknown): void {
    const peer = this.peers[rank]!;
    if (peer.departed) return;
    peer.departed = true;
    peer.dropUnsent();
    this.lost ??= new GenerationLostError(this.options.generation, culprit, reason, { cause });
    const connected = this.others().every((other) => other.welcomed && other.outbound);
    if (!connected || this.operation?.owes(rank)) this.shut();
    // An operation that has all its data must not wait for writes that this peer no longer takes.
    else this.operation?.flushed();
  }

  /** Watches for silent peers. If our own event loop was blocked, their data is unread, so the next round decides. */
  private watch(intervalMs: number): () => void {
    let last = this.options.now();
    return () => {
      const now = this.options.now();
      const blocked = now - last > intervalMs * 2;
      last = now;
      if (blocked) return;
      const { silenceMs, progressMs } = this.options.timing;
      const silent = this.others().find((peer) => !peer.departed && now - peer.lastHeard > silenceMs);
      if (silent) {
        this.depart(silent.rank, silent.rank, `silent for ${Math.round(now - silent.lastHeard)} ms`);
        silent.close();
      } else if (this.operation && now - this.lastProgress > progressMs) {
        const idle = this.others().find((peer) => this.operation!.owes(peer.rank));
        if (idle) this.depart(idle.rank, idle.rank, `sent nothing of this step for ${progressMs} ms`);
      }
    };
  }
}

function carriesData({ type }: FrameHeader): boolean {
  return type === frameTypes.partial || type === frameTypes.sum || type === frameTypes.state;
}
