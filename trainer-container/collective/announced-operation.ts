import { type FrameHeader, frameTypes } from "./frame";
import type { Mesh } from "./mesh";
import { type Agreement, MeshOperation } from "./mesh-operation";

/** The data with which every rank announces an operation. */
export interface Beginning extends Agreement {
  /** Bits of `gangSignals`. */
  readonly signals: number;
}

const nothing = Buffer.alloc(0);

/**
 * An operation that every rank announces to every other rank by a `begin` frame. It is complete on a rank that has sent
 * all its frames and received all frames that it is owed. So a rank that completes it knows that all ranks have begun it.
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
  /** Handles a frame other than `begin`. */
  protected dataArrived(_rank: number, _header: FrameHeader): void {}
  /** Whether there is nothing left to compute. */
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
