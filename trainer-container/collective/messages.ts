import { bytesOf } from "../kernels/sum-memory";
import { type FrameHeader, frameTypes } from "./frame";
import type { Mesh } from "./mesh";
import { AnnouncedOperation, MeshOperation } from "./mesh-operation";

/** Elements that one rank sends to another. Both ranks identify it by its number, which they have counted alike. */
export interface Message {
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

/** Exchanges messages that all ranks have planned alike. Without messages it is a barrier; empty ones cost nothing. */
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

export interface StateTransferInput {
  readonly state: readonly Float32Array[];
  /** Rank with the most advanced state. */
  readonly source: number;
  /** Ranks that take its state. */
  readonly behind: readonly number[];
}

const nothing = Buffer.alloc(0);

/** Sends the source's state to each rank that is behind. A receiver overwrites its own only when all is complete. */
export class StateTransfer extends MeshOperation {
  private readonly aside: Float32Array[];
  private readonly lengths: number;
  private readonly receiving: boolean;
  private elementsLeft: number;
  private begun = false;

  private constructor(
    mesh: Mesh,
    private readonly input: StateTransferInput,
    private readonly chunkElements: number,
  ) {
    super(mesh);
    this.receiving = input.behind.includes(mesh.options.rank);
    this.lengths = input.state.reduce((sum, { length }) => sum + length, 0);
    this.elementsLeft = this.receiving ? this.lengths : 0;
    this.aside = this.receiving ? input.state.map(({ length }) => new Float32Array(length)) : [];
  }

  /** @throws GenerationLostError; `state` is then unchanged */
  static async run(mesh: Mesh, input: StateTransferInput, chunkElements: number): Promise<void> {
    const operation = new StateTransfer(mesh, input, chunkElements);
    operation.enter();
    await operation.untilEnd();
    operation.aside.forEach((buffer, i) => {
      input.state[i]!.set(buffer);
    });
  }

  place(rank: number, header: FrameHeader): Buffer {
    if (rank !== this.input.source || !this.receiving) {
      throw new Error(`rank ${rank} sent state, but rank ${this.input.source} is its source`);
    }
    if (header.type === frameTypes.begin) return nothing;
    const buffer = this.aside[header.slot];
    const end = header.offset + header.bytes / 4;
    const fits = buffer && Number.isSafeInteger(header.offset) && header.offset >= 0 && end <= buffer.length;
    if (header.type !== frameTypes.state || !fits) {
      throw new Error(`state buffer ${header.slot} has ${buffer?.length ?? "no"} elements here, but got ${end}`);
    }
    return bytesOf(buffer, header.offset, end);
  }

  complete(rank: number, header: FrameHeader): void {
    if (header.type === frameTypes.begin) {
      if (header.offset !== this.lengths) {
        throw new Error(`rank ${rank} has ${header.offset} elements of state, but this rank ${this.lengths}`);
      }
      this.begun = true;
    } else {
      this.elementsLeft -= header.bytes / 4;
    }
    this.flushed();
  }

  owes(rank: number): boolean {
    if (rank === this.input.source) return this.receiving && (!this.begun || this.elementsLeft > 0);
    // Data for a receiver that has gone away is not needed.
    return false;
  }

  protected hasReceivedAll(): boolean {
    return (!this.receiving || this.begun) && this.elementsLeft === 0;
  }

  protected async issue(): Promise<void> {
    const { mesh, chunkElements } = this;
    const { state, behind, source } = this.input;
    if (mesh.options.rank !== source) return;
    const receivers = behind.map((rank) => mesh.peers[rank]!.outbound!);
    for (const receiver of receivers) {
      receiver.send({ type: frameTypes.begin, operation: this.number, offset: this.lengths });
    }
    for (const [slot, buffer] of state.entries()) {
      for (let start = 0; start < buffer.length && !this.failure; start += chunkElements) {
        const chunk = bytesOf(buffer, start, Math.min(buffer.length, start + chunkElements));
        for (const receiver of receivers) {
          receiver.send({ type: frameTypes.state, operation: this.number, slot, offset: start }, chunk);
        }
        await new Promise(setImmediate);
      }
    }
  }
}
