import type { GenerationLostError } from "./errors";
import type { FrameHeader } from "./frame";
import type { Mesh, Operation } from "./mesh";

/** What all ranks must agree on as they begin an operation. */
export interface Agreement {
  readonly finishedSteps: number;
  /** Elements that the operation is about. */
  readonly elements: number;
}

/**
 * An operation's life: the mesh takes it, it reserves its memory, gets the frames that came early, issues what it has to send, and is over
 * once that is issued and written, and all that it awaits is there. A failure ends it at any point.
 */
export abstract class MeshOperation implements Operation {
  /** Of the mesh's; known once it is entered. */
  number = 0;
  failure: GenerationLostError | undefined;
  /** Milliseconds spent adding. */
  protected busyMs = 0;
  private issued = false;
  private settle: { resolve(): void; reject(error: Error): void } | undefined;
  private readonly done = new Promise<void>((resolve, reject) => {
    this.settle = { resolve, reject };
  });

  protected constructor(readonly mesh: Mesh) {
    // Between `enter` and `over` nobody may be waiting for it.
    this.done.catch(() => {});
  }

  abstract place(rank: number, header: FrameHeader): Buffer;
  abstract complete(rank: number, header: FrameHeader): void;
  abstract owes(rank: number): boolean;
  /** Computes and sends all that needs no answer; ends early where `failure` is set. */
  protected abstract issue(): Promise<void>;
  /** Whether all that is awaited is there, and computed. */
  protected abstract whole(): boolean;
  /** After the mesh has taken the operation: what is reserved for a generation that has ended would be given back by nobody. */
  protected reserve(): void {}
  /** Says to whom it concerns that this rank begins. */
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

  /** Runs additions, and counts their time. */
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
