import { AnnouncedOperation } from "./announced-operation";
import { bytesOf, type FrameHeader, frameTypes } from "./frame";
import type { Mesh } from "./mesh";

/** Elements that go from one rank to another. The two know it by the number, which they have counted alike. */
export interface Parcel {
  /** The other rank. */
  readonly rank: number;
  readonly number: number;
  /** To send: not to be changed before the exchange is over. To receive: filled when it is over, and of no use if it fails. */
  readonly values: Float32Array;
}

export interface ParcelsInput {
  readonly sends: readonly Parcel[];
  readonly receives: readonly Parcel[];
  /** All ranks must agree. */
  readonly finishedSteps: number;
}

/** Elements sent between two looks at the sockets. */
const elementsPerTurn = 256 * 1024;

/**
 * Any exchange that all ranks have planned alike: each sends its parcels and waits for those that are for it. Without any, it is a barrier.
 * Empty parcels cost nothing.
 */
export class ParcelExchange extends AnnouncedOperation {
  private readonly targets = new Map<string, Float32Array>();

  private constructor(
    mesh: Mesh,
    private readonly input: ParcelsInput,
    private readonly chunkElements: number,
  ) {
    super(mesh, { signals: 0, finishedSteps: input.finishedSteps, elements: 0 });
    for (const { rank, number, values } of input.receives) {
      this.targets.set(`${rank}/${number}`, values);
      this.owed[rank]! += Math.ceil(values.length / chunkElements);
    }
  }

  /** @throws GenerationLostError */
  static async run(mesh: Mesh, input: ParcelsInput, chunkElements: number): Promise<void> {
    const operation = new ParcelExchange(mesh, input, chunkElements);
    operation.enter();
    await operation.over();
  }

  protected placeData(rank: number, { type, slot, offset, bytes }: FrameHeader): Buffer {
    const target = this.targets.get(`${rank}/${slot}`);
    const end = offset + bytes / 4;
    const fits = target && Number.isSafeInteger(offset) && offset >= 0 && end <= target.length;
    if (type !== frameTypes.state || !fits) {
      throw new Error(`rank ${rank} sent [${offset}, ${end}) of parcel ${slot}, which is not awaited here`);
    }
    return bytesOf(target, offset, end);
  }

  /** First chunks of all parcels first, so that all receivers start early. */
  protected async issue(): Promise<void> {
    const { sends } = this.input;
    const longest = Math.max(0, ...sends.map(({ values }) => values.length));
    let sinceYield = 0;
    for (let start = 0; start < longest && !this.failure; start += this.chunkElements) {
      for (const { rank, number, values } of sends) {
        const end = Math.min(values.length, start + this.chunkElements);
        if (start >= end) continue;
        this.mesh.peers[rank]!.outbound!.send(
          { type: frameTypes.state, operation: this.number, slot: number, offset: start },
          bytesOf(values, start, end),
        );
        sinceYield += end - start;
        if (sinceYield < elementsPerTurn) continue;
        sinceYield = 0;
        await new Promise(setImmediate);
        if (this.failure) return;
      }
    }
  }
}
