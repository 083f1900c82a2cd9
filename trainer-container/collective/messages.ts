import { AnnouncedOperation } from "./announced-operation";
import { bytesOf, type FrameHeader, frameTypes } from "./frame";
import type { Mesh } from "./mesh";

/** Elements that one rank sends to another. Both ranks identify it by its number, which they have counted alike. */
export interface Message {
  /** The other rank. */
  readonly rank: number;
  readonly number: number;
  /** To send: must not change before the exchange is over. To receive: filled when it is over, undefined if it fails. */
  readonly values: Float32Array;
}

export interface MessagesInput {
  readonly sends: readonly Message[];
  readonly receives: readonly Message[];
  /** All ranks must agree. */
  readonly finishedSteps: number;
}

/** Elements sent between two checks of the sockets. */
const elementsPerTurn = 256 * 1024;

/**
 * Exchanges messages that all ranks have planned alike: each rank sends its messages and waits for those addressed to it.
 * Without messages it is a barrier. Empty messages cost nothing.
 */
export class MessageExchange extends AnnouncedOperation {
  private readonly targets = new Map<string, Float32Array>();

  private constructor(
    mesh: Mesh,
    private readonly input: MessagesInput,
    private readonly chunkElements: number,
  ) {
    super(mesh, { signals: 0, finishedSteps: input.finishedSteps, elements: 0 });
    for (const { rank, number, values } of input.receives) {
      this.targets.set(`${rank}/${number}`, values);
      this.owed[rank]! += Math.ceil(values.length / chunkElements);
    }
  }

  /** @throws GenerationLostError */
  static async run(mesh: Mesh, input: MessagesInput, chunkElements: number): Promise<void> {
    const operation = new MessageExchange(mesh, input, chunkElements);
    operation.enter();
    await operation.untilEnd();
  }

  protected placeData(rank: number, { type, slot, offset, bytes }: FrameHeader): Buffer {
    const target = this.targets.get(`${rank}/${slot}`);
    const end = offset + bytes / 4;
    const fits = target && Number.isSafeInteger(offset) && offset >= 0 && end <= target.length;
    if (type !== frameTypes.state || !fits) {
      throw new Error(`rank ${rank} sent [${offset}, ${end}) of message ${slot}, which is not awaited here`);
    }
    return bytesOf(target, offset, end);
  }

  /** Sends the first chunks of all messages first, so that all receivers start early. */
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
