import { add } from "../../trainer-container/collective/add";
import { bytesOf, type FrameHeader, frameTypes } from "../../trainer-container/collective/frame";
import type { Mesh, Operation } from "../../trainer-container/collective/mesh";
import { chunkCount, chunkOf, type Span, segmentOf } from "../../trainer-container/collective/segments";
import { allocateSum, releaseSum } from "../../trainer-container/collective/sum-memory";
import { leafRange } from "../../trainer-container/reduction/plan";

const nothing = Buffer.alloc(0);

/**
 * The direct all-reduce in the fastest order, to measure the cost of the canonical one: a rank adds its leaves in memory order,
 * and a segment's owner adds partial sums as they arrive. Its bits differ from run to run. Otherwise it sends the same messages.
 */
export class ArrivalOrder implements Operation {
  private readonly elements: number;
  private readonly own: Span;
  private readonly staging: readonly Float32Array[];
  private owed: number[] = [];
  /** By chunk of the own segment: ranks whose partial sums arrived before the own one was ready; `undefined` after that. */
  private early: (number[] | undefined)[] = [];
  private missing: number[] = [];
  private chunksLeft = 0;
  private issued = false;
  private number = 0;
  private settle: { resolve(): void; reject(error: Error): void } | undefined;

  constructor(
    private readonly mesh: Mesh,
    private readonly local: readonly Float32Array[],
    private readonly out: Float32Array,
    private readonly chunkElements: number,
  ) {
    this.elements = out.length;
    this.own = this.segment(mesh.options.rank);
    this.staging = mesh.peers.map(() => allocateSum(this.own.end - this.own.start));
  }

  async run(): Promise<void> {
    const { worldSize, options } = this.mesh;
    const chunks = chunkCount(this.own, this.chunkElements);
    this.owed = this.mesh.peers.map((_, other) =>
      other === options.rank ? 0 : 1 + chunks + chunkCount(this.segment(other), this.chunkElements),
    );
    this.early = Array.from({ length: chunks }, () => []);
    this.missing = new Array<number>(chunks).fill(worldSize);
    this.chunksLeft = chunks;
    this.issued = false;
    this.number = this.mesh.begin(this);
    try {
      const done = new Promise<void>((resolve, reject) => {
        this.settle = { resolve, reject };
      });
      this.mesh.takeHeldFrames();
      await Promise.all([done, this.issue()]);
    } finally {
      this.mesh.end(this);
    }
  }

  place(rank: number, { type, offset, bytes }: FrameHeader): Buffer {
    if (type === frameTypes.begin) return nothing;
    const end = offset + bytes / 4;
    if (type === frameTypes.sum) return bytesOf(this.out, offset, end);
    return bytesOf(this.staging[rank] as Float32Array, offset - this.own.start, end - this.own.start);
  }

  complete(rank: number, { type, offset }: FrameHeader): void {
    this.owed[rank] = (this.owed[rank] as number) - 1;
    if (type === frameTypes.partial) {
      const index = Math.floor((offset - this.own.start) / this.chunkElements);
      const early = this.early[index];
      if (early) early.push(rank);
      else this.addPartial(index, rank);
    }
    this.flushed();
  }

  owes(rank: number): boolean {
    return (this.owed[rank] as number) > 0;
  }

  flushed(): void {
    const whole = this.issued && this.chunksLeft === 0 && this.owed.every((frames) => frames === 0);
    if (whole && this.mesh.pendingWrites === 0) this.settle?.resolve();
  }

  fail(error: Error): void {
    this.settle?.reject(error);
  }

  /** Call it after the last read into the memory. */
  release(): void {
    for (const values of this.staging) releaseSum(values);
  }

  private async issue(): Promise<void> {
    const { rank } = this.mesh.options;
    const { worldSize } = this.mesh;
    for (const peer of this.mesh.others()) {
      peer.outbound?.send({ type: frameTypes.begin, operation: this.number, offset: this.elements });
    }
    const segments = this.mesh.peers.map((_, owner) => this.segment(owner));
    const rounds = Math.max(...segments.map((segment) => chunkCount(segment, this.chunkElements)));
    let sinceYield = 0;
    for (let index = 0; index < rounds; index++) {
      for (let step = 1; step <= worldSize; step++) {
        const owner = (rank + step) % worldSize;
        const segment = segments[owner] as Span;
        if (index >= chunkCount(segment, this.chunkElements)) continue;
        const chunk = chunkOf(segment, index, this.chunkElements);
        const sum = this.addLeaves(chunk, owner === rank);
        if (owner === rank) {
          const early = this.early[index] ?? [];
          this.early[index] = undefined;
          this.arrived(index);
          for (const other of early) this.addPartial(index, other);
        } else {
          const header = { type: frameTypes.partial, operation: this.number, offset: chunk.start };
          this.mesh.peers[owner]?.outbound?.send(header, bytesOf(sum, chunk.start, chunk.end));
        }
        sinceYield += chunk.end - chunk.start;
        if (sinceYield >= 256 * 1024) {
          sinceYield = 0;
          await new Promise(setImmediate);
        }
      }
    }
    this.issued = true;
    this.flushed();
  }

  private addLeaves({ start, end }: Span, isOwn: boolean): Float32Array {
    const [first, ...rest] = this.local as readonly [Float32Array, ...Float32Array[]];
    const into = isOwn ? this.out : first;
    if (isOwn && rest.length === 0) into.set(first.subarray(start, end), start);
    rest.forEach((leaf, i) => {
      add(into, start, i === 0 ? first : into, start, leaf, start, end - start);
    });
    return into;
  }

  private addPartial(index: number, rank: number): void {
    const { start, end } = chunkOf(this.own, index, this.chunkElements);
    add(this.out, start, this.out, start, this.staging[rank] as Float32Array, start - this.own.start, end - start);
    this.arrived(index);
  }

  private arrived(index: number): void {
    this.missing[index] = (this.missing[index] as number) - 1;
    if ((this.missing[index] as number) > 0) return;
    const chunk = chunkOf(this.own, index, this.chunkElements);
    this.chunksLeft--;
    for (const peer of this.mesh.others()) {
      const header = { type: frameTypes.sum, operation: this.number, offset: chunk.start };
      peer.outbound?.send(header, bytesOf(this.out, chunk.start, chunk.end));
    }
  }

  private segment(rank: number): Span {
    return segmentOf(this.elements, this.mesh.worldSize, rank);
  }
}

/** Returns the number of leaves of V that a rank computes. */
export function leavesOf(leafCount: number, worldSize: number, rank: number): number {
  const { first, end } = leafRange(leafCount, worldSize, rank);
  return end - first;
}
