import { allocateSum, inSumMemory, releaseSum } from "../../collective/sum-memory";
import type { GraphSession } from "./session";

/** JavaScript's memory of a session's weights: its own, or its owner's. */
export class HostWeights {
  private readonly own: Float32Array;
  private current: Float32Array;

  constructor(
    private readonly session: GraphSession,
    length: number,
  ) {
    this.own = allocateSum(length);
    this.current = this.own;
  }

  /** The memory that `GraphSession.pull` fills. */
  get memory(): Float32Array {
    return this.current;
  }

  /** Uses the owner's memory from now on, as it is. */
  share(memory: Float32Array): void {
    if (!inSumMemory(memory)) return;
    this.current = memory;
    this.session.variables.hostChanged();
  }

  write(from: Float32Array): void {
    if (from !== this.current) {
      this.current = this.own; // shared memory belongs to another caller
      this.own.set(from);
    }
    this.session.variables.hostChanged();
  }

  read(into: Float32Array): void {
    this.session.pull();
    into.set(this.current);
  }

  dispose(): void {
    releaseSum(this.own);
  }
}
