/** The frames that a rank receives by halving and doubling. `HalvingPart` explains the stages and terms. */
import type { HalvingPlan } from "../reduction/halving";
import { type FrameType, frameTypes } from "./frame";
import { chunkCount, halvingSpan, type Span } from "./segments";

/** One part of a vector, and the ranks that sum it. */
export interface PartShape {
  readonly halving: HalvingPlan;
  readonly leafCount: number;
  readonly whole: Span;
  readonly chunkElements: number;
}

export interface Stage {
  missing: number;
  /** Spans that have arrived, but are not processed: another rank may be a stage ahead. */
  readonly arrived: Span[];
}

export interface Stages {
  readonly give: Stage;
  readonly halve: readonly Stage[];
  readonly double: readonly Stage[];
  readonly serve: Stage;
}

/** The frames of one type and slot from one rank, as a receive that MPI has posted. A frame holds a chunk of the span. */
export interface Receive {
  readonly stage: Stage;
  readonly rank: number;
  readonly type: FrameType;
  /** Slot within the part. */
  readonly slot: number;
  readonly span: Span;
  missing: number;
}

export interface Level {
  readonly partner: number;
  /** The half that this host sums from this level on. */
  readonly kept: Span;
  /** The half that its partner sums. */
  readonly given: Span;
  readonly slot: number;
}

export function levelCount({ halving }: PartShape): number {
  return Math.log2(halving.hosts.length);
}

export function levelOf({ halving, leafCount, whole }: PartShape, position: number, k: number): Level {
  const other = position ^ (1 << k);
  return {
    partner: halving.hosts[other]!,
    kept: halvingSpan(whole, position, k + 1),
    given: halvingSpan(whole, other, k + 1),
    slot: leafCount + k,
  };
}

/** Returns the slot of the `begin` before the final sums that a host serves. */
export function serveSlot(shape: PartShape): number {
  return shape.leafCount + levelCount(shape);
}

export function postReceives(
  shape: PartShape,
  rank: number,
): { readonly stages: Stages; readonly receives: readonly Receive[] } {
  const { halving, whole, chunkElements } = shape;
  const { position, takes, server } = halving.roles[rank]!;
  const levels = levelCount(shape);
  const stage = (): Stage => ({ missing: 0, arrived: [] });
  const stagePerLevel = () => Array.from({ length: levels }, stage);
  const stages: Stages = { give: stage(), halve: stagePerLevel(), double: stagePerLevel(), serve: stage() };
  const receives: Receive[] = [];
  const post = (receive: Receive) => {
    receive.stage.missing += receive.missing;
    receives.push(receive);
  };
  const { begin, partial, sum } = frameTypes;

  const { give, serve } = stages;
  for (const giver of new Set(takes.map((entry) => entry.rank))) {
    post({ stage: give, rank: giver, type: begin, slot: 0, span: whole, missing: 1 });
  }
  const chunks = chunkCount(whole, chunkElements);
  for (const take of takes) post({ stage: give, ...take, type: partial, span: whole, missing: chunks });
  if (server !== undefined) {
    const missing = chunksServed(shape, halving.roles[server]!.position!);
    post({ stage: serve, rank: server, type: begin, slot: serveSlot(shape), span: whole, missing: 1 });
    post({ stage: serve, rank: server, type: sum, slot: 0, span: whole, missing });
  }
  for (let k = 0; position !== undefined && k < levels; k++) {
    const { partner, kept, given, slot } = levelOf(shape, position, k);
    const [halve, double] = [stages.halve[k]!, stages.double[k]!];
    const missing = { kept: chunkCount(kept, chunkElements), given: chunkCount(given, chunkElements) };
    post({ stage: halve, rank: partner, type: begin, slot, span: kept, missing: 1 });
    post({ stage: halve, rank: partner, type: partial, slot, span: kept, missing: missing.kept });
    post({ stage: double, rank: partner, type: sum, slot: 0, span: given, missing: missing.given });
  }
  return { stages, receives };
}

/** Counts the frames of sums that a host serves: the chunks of its own span, then those of each span that it gets. */
function chunksServed(shape: PartShape, position: number): number {
  const { whole, chunkElements } = shape;
  const levels = levelCount(shape);
  let chunks = chunkCount(halvingSpan(whole, position, levels), chunkElements);
  for (let k = 0; k < levels; k++) chunks += chunkCount(levelOf(shape, position, k).given, chunkElements);
  return chunks;
}
