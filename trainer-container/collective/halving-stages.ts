import type { Span } from "./segments";

interface Stage {
  /** Number of missing frames by rank. A rank without frames in this stage is missing in the map. */
  readonly owed: Map<number, number>;
  /** Spans that have arrived and were not taken yet. */
  readonly arrived: Span[];
  left: number;
}

/** Expected frames of each stage of an operation by rank, and the frames that arrived before their stage. */
export class HalvingStages {
  private readonly stages: readonly Stage[];
  private readonly owed = new Map<number, number>();

  constructor(readonly count: number) {
    this.stages = Array.from({ length: count }, () => ({ owed: new Map(), arrived: [], left: 0 }));
  }

  expect(stage: number, rank: number, frames: number): void {
    const { owed } = this.stages[stage]!;
    owed.set(rank, (owed.get(rank) ?? 0) + frames);
    this.stages[stage]!.left += frames;
    this.owed.set(rank, (this.owed.get(rank) ?? 0) + frames);
  }

  awaits(stage: number | undefined, rank: number): stage is number {
    return stage !== undefined && this.stages[stage]!.owed.has(rank);
  }

  /** @throws if no further frame of that rank is expected */
  arrive(stage: number | undefined, rank: number, span: Span): void {
    const owed = stage === undefined ? 0 : (this.stages[stage]!.owed.get(rank) ?? 0);
    if (stage === undefined || owed === 0) throw new Error(`rank ${rank} sent more frames than this rank awaits`);
    const { arrived } = this.stages[stage]!;
    this.stages[stage]!.owed.set(rank, owed - 1);
    this.stages[stage]!.left--;
    this.owed.set(rank, this.owed.get(rank)! - 1);
    if (span.end > span.start) arrived.push(span);
  }

  take(stage: number): readonly Span[] {
    return this.stages[stage]!.arrived.splice(0);
  }

  isOver(stage: number): boolean {
    return this.stages[stage]!.left === 0;
  }

  owes(rank: number): boolean {
    return (this.owed.get(rank) ?? 0) > 0;
  }
}
