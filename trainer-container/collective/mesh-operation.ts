import type { GenerationLostError } from "../gang/gang";
import { type FrameHeader, frameTypes } from "./frame";
import type { Mesh, Operation } from "./mesh";

/** What every rank says as it begins an operation. */
export interface Beginning {
  /** Bits of `gangSignals`. */
  readonly signals: number;
  readonly finishedSteps: number;
  /** Elements that the operation is about; all ranks must agree. */
  readonly elements: number;
}

const nothing = Buffer.alloc(0);

/**
 * An operation that every rank announces to every other one by a `begin` frame, and that is over here once this rank has sent what it
 * has to send and has all that it is owed. Whoever completes it knows therefore that all ranks have begun it.
 */
export abstract class MeshOperation implements Operation {
  /** Frames that each rank has still to send. */
  protected readonly owed: number[];
  protected readonly signalsByRank: number[];
  protected number = 0;
  protected failure: GenerationLostError | undefined;
  private issued = false;
  private settle: { resolve(): void; reject(error: Error): void } | undefined;

  protected constructor(
    protected readonly mesh: Mesh,
    private readonly beginning: Beginning,
  ) {
    const { rank } = mesh.options;
    this.owed = mesh.peers.map((_, other) => (other === rank ? 0 : 1));
    this.signalsByRank = mesh.peers.map((_, other) => (other === rank ? beginning.signals : 0));
  }

  /** Where a frame that is not `begin` belongs. @throws where this rank expects no such frame. */
  protected abstract placeData(rank: number, header: FrameHeader): Buffer;
  /** Sends all that needs no answer; ends early where `failure` is set. */
  protected abstract issue(): Promise<void>;
  /** A frame that is not `begin` has arrived. */
  protected dataArrived(_rank: number, _header: FrameHeader): void {}
  /** After the mesh has taken the operation, before any frame arrives. */
  protected reserve(): void {}
  /** Whether there is nothing left to compute. */
  protected idle(): boolean {
    return true;
  }

  /** @throws GenerationLostError */
  protected async run(): Promise<void> {
    this.number = this.mesh.begin(this);
    this.reserve();
    try {
      const done = new Promise<void>((resolve, reject) => {
        this.settle = { resolve, reject };
      });
      this.mesh.takeHeldFrames();
      await Promise.all([done, this.begin()]);
    } finally {
      this.mesh.end(this);
    }
  }

  place(rank: number, header: FrameHeader): Buffer {
    return header.type === frameTypes.begin ? nothing : this.placeData(rank, header);
  }

  complete(rank: number, header: FrameHeader): void {
    if (header.type === frameTypes.begin) {
      this.requireSame(rank, "elements", header.offset, this.beginning.elements);
      this.requireSame(rank, "finished steps", header.finishedSteps, this.beginning.finishedSteps);
      this.signalsByRank[rank] = header.signals;
    }
    this.owed[rank]!--;
    if (header.type !== frameTypes.begin) this.dataArrived(rank, header);
    this.flushed();
  }

  owes(rank: number): boolean {
    return this.owed[rank]! > 0;
  }

  flushed(): void {
    const whole = this.issued && this.idle() && this.owed.every((frames) => frames === 0);
    if (whole && this.mesh.pendingWrites === 0) this.settle?.resolve();
  }

  fail(error: GenerationLostError): void {
    this.failure = error;
    this.settle?.reject(error);
  }

  private async begin(): Promise<void> {
    const { signals, finishedSteps, elements } = this.beginning;
    for (const peer of this.mesh.others()) {
      const begin = { type: frameTypes.begin, operation: this.number, signals, finishedSteps, offset: elements };
      peer.outbound!.send(begin);
    }
    await this.issue();
    this.issued = true;
    this.flushed();
  }

  private requireSame(rank: number, what: string, theirs: number, ours: number): void {
    if (theirs !== ours) throw new Error(`rank ${rank} has ${theirs} ${what}, but this rank ${ours}`);
  }
}
