/** One operation of a mesh, and one whose values all ranks must agree on when they begin it. */
import type { GenerationLostError } from "./errors";
import { type FrameHeader, frameTypes } from "./frame";
import type { Mesh, Operation } from "./mesh";

interface Agreement {
  readonly finishedSteps: number;
  readonly elements: number;
}

/**
 * A collective operation on one rank. `enter`: the mesh takes it; from then on frames are read into `place` and passed
 * to `complete`. `untilEnd` runs `issue`, which computes and sends. It ends when `issue` has returned, no frame is
 * missing and the kernel has taken all writes: each may be last, so each calls `flushed`. `fail` ends it before.
 */
export abstract class MeshOperation implements Operation {
  /** Assigned by the mesh; known after `enter`. */
  number = 0;
  failure: GenerationLostError | undefined;
  /** Milliseconds spent on additions. */
  protected busyMs = 0;
  private issued = false;
  private readonly end = createEnd();

  protected constructor(readonly mesh: Mesh) {}

  abstract place(rank: number, header: FrameHeader): Buffer;
  abstract complete(rank: number, header: FrameHeader): void;
  abstract owes(rank: number): boolean;
  /** Computes and sends all that this rank sends. Returns early if `failure` is set. */
  protected abstract issue(): Promise<void>;
  protected abstract hasReceivedAll(): boolean;
  /** Reserves memory after the mesh has taken the operation. Earlier, nothing would release it if the generation ended. */
  protected reserve(): void {}
  protected announce(): void {}

  /** @throws GenerationLostError */
  protected enter(): void {
    this.number = this.mesh.begin(this);
    try {
      this.reserve();
      this.mesh.takeHeldFrames();
      this.announce();
    } catch (error) {
      this.mesh.end(this);
      throw error;
    }
  }

  /** @throws GenerationLostError */
  protected async untilEnd(): Promise<void> {
    try {
      await Promise.all([this.end.reached, this.issueAll()]);
    } finally {
      this.mesh.end(this);
    }
  }

  private async issueAll(): Promise<void> {
    await this.issue();
    this.issued = true;
    this.flushed();
  }

  flushed(): void {
    if (this.issued && this.mesh.pendingWrites === 0 && this.hasReceivedAll()) this.end.resolve();
  }

  fail(error: GenerationLostError): void {
    this.failure = error;
    this.end.reject(error);
  }

  timed(work: () => void): void {
    const start = this.mesh.options.now();
    work();
    this.busyMs += this.mesh.options.now() - start;
  }

  /** @param header of a `begin`. */
  protected requireAgreement(rank: number, header: FrameHeader, { elements, finishedSteps }: Agreement): void {
    requireSame(rank, "elements", header.offset, elements);
    requireSame(rank, "finished steps", header.finishedSteps, finishedSteps);
  }
}

function createEnd() {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const reached = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  reached.catch(() => {}); // before `untilEnd`, nothing waits for it
  return { reached, resolve, reject };
}

function requireSame(rank: number, what: string, theirs: number, ours: number): void {
  if (theirs !== ours) throw new Error(`rank ${rank} has ${theirs} ${what}, but this rank ${ours}`);
}

interface Beginning extends Agreement {
  /** Bits of `gangSignals`. */
  readonly signals: number;
}

const nothing = Buffer.alloc(0);

/**
 * Announced by every rank to every other by a `begin` frame, so a rank that completes it knows that all have begun it.
 */
export abstract class AnnouncedOperation extends MeshOperation {
  /** Number of frames that each rank still has to send. */
  protected readonly owed: number[];
  protected readonly signalsByRank: number[];

  protected constructor(
    mesh: Mesh,
    private readonly beginning: Beginning,
  ) {
    super(mesh);
    const { rank } = mesh.options;
    this.owed = mesh.peers.map((_, other) => (other === rank ? 0 : 1));
    this.signalsByRank = mesh.peers.map((_, other) => (other === rank ? beginning.signals : 0));
  }

  /** Returns the memory for a frame other than `begin`. @throws if this rank expects no such frame */
  protected abstract placeData(rank: number, header: FrameHeader): Buffer;
  protected dataArrived(_rank: number, _header: FrameHeader): void {}
  protected isComputed(): boolean {
    return true;
  }

  place(rank: number, header: FrameHeader): Buffer {
    return header.type === frameTypes.begin ? nothing : this.placeData(rank, header);
  }

  complete(rank: number, header: FrameHeader): void {
    if (header.type === frameTypes.begin) {
      this.requireAgreement(rank, header, this.beginning);
      this.signalsByRank[rank] = header.signals;
    }
    this.owed[rank]!--;
    if (header.type !== frameTypes.begin) this.dataArrived(rank, header);
    this.flushed();
  }

  owes(rank: number): boolean {
    return this.owed[rank]! > 0;
  }

  protected hasReceivedAll(): boolean {
    return this.isComputed() && this.owed.every((frames) => frames === 0);
  }

  protected override announce(): void {
    const { signals, finishedSteps, elements } = this.beginning;
    const begin = { type: frameTypes.begin, operation: this.number, signals, finishedSteps, offset: elements };
    for (const peer of this.mesh.others()) peer.outbound!.send(begin);
  }
}
