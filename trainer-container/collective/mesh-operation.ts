import type { GenerationLostError } from "./errors";
import type { FrameHeader } from "./frame";
import type { Mesh, Operation } from "./mesh";

/** Values on which all ranks must agree when they begin an operation. */
export interface Agreement {
  readonly finishedSteps: number;
  /** Number of elements of the operation. */
  readonly elements: number;
}

/**
 * The life of an operation: the mesh takes it, it reserves its memory, gets the frames that came early, and issues its
 * sends. It ends when these are written and all expected frames have arrived. A failure ends it at any time.
 */
export abstract class MeshOperation implements Operation {
  /** Assigned by the mesh; known after `enter`. */
  number = 0;
  failure: GenerationLostError | undefined;
  /** Milliseconds spent on additions. */
  protected busyMs = 0;
  private issued = false;
  private settle: { resolve(): void; reject(error: Error): void } | undefined;
  private readonly done = new Promise<void>((resolve, reject) => {
    this.settle = { resolve, reject };
  });

  protected constructor(readonly mesh: Mesh) {
    // Between `enter` and `over` nothing may be waiting for it.
    this.done.catch(() => {});
  }

  abstract place(rank: number, header: FrameHeader): Buffer;
  abstract complete(rank: number, header: FrameHeader): void;
  abstract owes(rank: number): boolean;
  /** Computes and sends everything that needs no answer. Ends early if `failure` is set. */
  protected abstract issue(): Promise<void>;
  /** Whether all expected frames have arrived and were processed. */
  protected abstract whole(): boolean;
  /** Reserves memory after the mesh has taken the operation. Earlier, nothing would release it if the generation ended. */
  protected reserve(): void {}
  /** Announces to the other ranks that this rank begins. */
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
  protected async over(): Promise<void> {
    try {
      await Promise.all([this.done, this.issueAll()]);
    } finally {
      this.mesh.end(this);
    }
  }

  flushed(): void {
    if (this.issued && this.mesh.pendingWrites === 0 && this.whole()) this.settle?.resolve();
  }

  fail(error: GenerationLostError): void {
    this.failure = error;
    this.settle?.reject(error);
  }

  /** Runs additions and measures their time. */
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

  private async issueAll(): Promise<void> {
    await this.issue();
    this.issued = true;
    this.flushed();
  }
}

function requireSame(rank: number, what: string, theirs: number, ours: number): void {
  if (theirs !== ours) throw new Error(`rank ${rank} has ${theirs} ${what}, but this rank ${ours}`);
}
