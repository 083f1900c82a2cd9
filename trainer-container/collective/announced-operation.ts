import { type FrameHeader, frameTypes } from "./frame";
import type { Mesh } from "./mesh";
import { type Agreement, MeshOperation } from "./mesh-operation";

/** What every rank says as it begins an operation. */
export interface Beginning extends Agreement {
  /** Bits of `gangSignals`. */
  readonly signals: number;
}

const nothing = Buffer.alloc(0);

/**
 * An operation that every rank announces to every other one by a `begin` frame, and that is over here once this rank has sent what it
 * has to send and has all that it is owed. Whoever completes it knows therefore that all ranks have begun it.
 */
export abstract class AnnouncedOperation extends MeshOperation {
  /** Frames that each rank has still to send. */
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

  /** Where a frame that is not `begin` belongs. @throws where this rank expects no such frame. */
  protected abstract placeData(rank: number, header: FrameHeader): Buffer;
  /** A frame that is not `begin` has arrived. */
  protected dataArrived(_rank: number, _header: FrameHeader): void {}
  /** Whether there is nothing left to compute. */
  protected idle(): boolean {
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

  protected whole(): boolean {
    return this.idle() && this.owed.every((frames) => frames === 0);
  }

  protected override announce(): void {
    const { signals, finishedSteps, elements } = this.beginning;
    const begin = { type: frameTypes.begin, operation: this.number, signals, finishedSteps, offset: elements };
    for (const peer of this.mesh.others()) peer.outbound!.send(begin);
  }
}
