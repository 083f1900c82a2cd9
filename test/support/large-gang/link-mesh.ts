import { type FrameHeader, headerBytes } from "../../../trainer-container/collective/frame";
import type { Mesh, MeshOptions, Operation } from "../../../trainer-container/collective/mesh";
import type { Outbound, Peer } from "../../../trainer-container/collective/peer";
import type { Links } from "./links";
import type { VirtualTime } from "./virtual-time";

interface Frame {
  readonly header: FrameHeader;
  readonly payload: Buffer | undefined;
}

const nothing = Buffer.alloc(0);
/** Size that the kernel takes at once. More is several messages, so that copies, sends and additions of a large vector overlap. */
const messageBytes = 256 * 1024;

/** A rank's connections over simulated links: the interface of `Mesh` for the collective operations, without failures. */
export class LinkMesh implements Pick<Mesh, keyof Mesh> {
  readonly lost = undefined;
  readonly worldSize: number;
  readonly peers: readonly (Peer | undefined)[];
  onShut: (() => void) | undefined;
  pendingWrites = 0;
  bytesSent = 0;
  private readonly near: readonly Peer[];
  private readonly held: Frame[][];
  private operation: Operation | undefined;
  private operationNumber = 0;

  private constructor(
    readonly options: MeshOptions,
    private readonly time: VirtualTime,
    private readonly links: Links,
    private readonly world: readonly LinkMesh[],
  ) {
    this.worldSize = options.members.length;
    this.held = options.members.map(() => []);
    this.peers = options.members.map((_, to) => (to === options.rank ? undefined : this.peer(to)));
    this.near = this.peers.filter((peer) => peer !== undefined);
  }

  /** Creates all ranks of a world, connected. */
  static world(worldSize: number, microBatches: number, time: VirtualTime, links: Links): readonly Mesh[] {
    const world: LinkMesh[] = [];
    const members = Array.from({ length: worldSize }, () => ({ host: "", port: 0 }));
    for (let rank = 0; rank < worldSize; rank++) {
      // Listener, heartbeat and deadlines belong to the connections. Operations do not use them.
      const options = { rank, microBatches, members, now: () => time.now } as unknown as MeshOptions;
      world.push(new LinkMesh(options, time, links, world));
    }
    return world as unknown as readonly Mesh[];
  }

  others(): readonly Peer[] {
    return this.near;
  }

  begin(operation: Operation): number {
    this.operation = operation;
    return ++this.operationNumber;
  }

  takeHeldFrames(): void {
    this.held.forEach((_, rank) => {
      this.drain(rank);
    });
  }

  end(operation: Operation): void {
    if (this.operation === operation) this.operation = undefined;
  }

  abort(): void {}

  close(): void {}

  private peer(rank: number): Peer {
    let train: Frame[] = [];
    const send: Outbound["send"] = (header, payload) => {
      const bytes = payload?.length ?? 0;
      const whole = { operation: 0, slot: 0, signals: 0, offset: 0, finishedSteps: 0, ...header, bytes };
      this.pendingWrites++;
      this.bytesSent += headerBytes + bytes;
      if (train.push({ header: whole, payload }) === 1) {
        this.time.after(
          0,
          () => {
            const frames = train;
            train = [];
            for (const message of this.messages(frames)) this.dispatch(rank, message);
          },
          true,
        );
      }
    };
    return { rank, outbound: { send } } as unknown as Peer;
  }

  private *messages(frames: readonly Frame[]): Generator<readonly Frame[]> {
    let message: Frame[] = [];
    let bytes = 0;
    for (const frame of frames) {
      message.push(frame);
      bytes += this.links.bytesFor(frame.header.bytes);
      if (bytes < messageBytes) continue;
      yield message;
      message = [];
      bytes = 0;
    }
    if (message.length > 0) yield message;
  }

  private dispatch(to: number, frames: readonly Frame[]): void {
    const payload = frames.reduce((sum, frame) => sum + frame.header.bytes, 0);
    let copies: readonly Frame[] = frames;
    const taken = () => {
      // From here on the sender may write to the memory again.
      copies = frames.map(({ header, payload: bytes }) => ({ header, payload: bytes && Buffer.from(bytes) }));
      this.pendingWrites -= frames.length;
      if (this.pendingWrites === 0) this.operation?.flushed();
    };
    this.links.send(this.options.rank, to, { headers: frames.length * headerBytes, payload }, taken, () =>
      this.world[to]!.arrived(this.options.rank, copies),
    );
  }

  private arrived(from: number, frames: readonly Frame[]): void {
    this.held[from]!.push(...frames);
    this.drain(from);
  }

  private drain(from: number): void {
    const held = this.held[from]!;
    while (held.length > 0 && this.operation && held[0]!.header.operation <= this.operationNumber) {
      const { header, payload } = held.shift()!;
      this.operation.place(from, header).set(payload ?? nothing);
      this.operation.complete(from, header);
    }
  }
}
