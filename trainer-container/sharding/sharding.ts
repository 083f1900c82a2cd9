import { normBlockCount, normBlockElements } from "../optimizer/clip";

/**
 * The P parameters are cut into W *segments* of whole norm blocks. Rank r *owns* segment r; the next rank, its
 * *neighbour*, keeps a *copy* of its slots. So a rank holds 2/W of all slots.
 */

/** Half-open range of elements. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the segment of `rank`: whole norm blocks, sizes within one block. Empty if there are fewer blocks than ranks. */
export function shardSegment(parameterCount: number, worldSize: number, rank: number): Span {
  const blocks = normBlockCount(parameterCount);
  const at = (place: number) => Math.min(parameterCount, Math.floor((place * blocks) / worldSize) * normBlockElements);
  return { start: at(rank), end: at(rank + 1) };
}

/** Returns the rank that keeps the copy of `rank`'s segment. */
export function neighbourOf(worldSize: number, rank: number): number {
  return (rank + 1) % worldSize;
}

/** Returns the rank whose segment `rank` copies. */
export function copiedBy(worldSize: number, rank: number): number {
  return (rank + worldSize - 1) % worldSize;
}

/** Returns the owners of the segments that `rank` holds: itself, then the rank whose segment it copies. */
export function heldSegments(worldSize: number, rank: number): readonly number[] {
  return worldSize === 1 ? [0] : [rank, copiedBy(worldSize, rank)];
}

/** Returns the part of `span` below `limit`. */
export function clip({ start, end }: Span, limit: number): Span {
  return { start: Math.min(start, limit), end: Math.min(end, limit) };
}

export function lengthOf({ start, end }: Span): number {
  return end - start;
}

/** Slots of these elements after `step` finished steps. */
export interface Holding extends Span {
  readonly step: number;
}

/** The part of the training's state on one rank. The state after a step is a function of that step, so equal holdings have equal bits. */
export interface RankState {
  /** Step of its weights, which are complete. */
  readonly finishedSteps: number;
  readonly holdings: readonly Holding[];
  /** Number of formations in which it waited in vain for the holders of missing slots. */
  readonly waited: number;
}

/** Encodes the state as numbers to send: finished steps, waits, then start, end and step of each holding. */
export function encodeRankState({ finishedSteps, holdings, waited }: RankState): Float64Array {
  return Float64Array.from([finishedSteps, waited, ...holdings.flatMap(({ start, end, step }) => [start, end, step])]);
}

export function decodeRankState(numbers: Float64Array): RankState {
  const holdings: Holding[] = [];
  for (let i = 2; i + 2 < numbers.length; i += 3) {
    holdings.push({ start: numbers[i] as number, end: numbers[i + 1] as number, step: numbers[i + 2] as number });
  }
  return { finishedSteps: numbers[0] as number, holdings, waited: numbers[1] as number };
}

/** Whether the spans together cover [0, elements). */
export function covers(spans: readonly Span[], elements: number): boolean {
  let reached = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (start > reached) break;
    reached = Math.max(reached, end);
  }
  return reached >= elements;
}

function holdingsAt(rankState: RankState, step: number): readonly Holding[] {
  return rankState.holdings.filter((holding) => holding.step === step);
}

/** Whether the rank has all of the state at its own finished steps. */
function isWhole(rankState: RankState, slotElements: number): boolean {
  return covers(holdingsAt(rankState, rankState.finishedSteps), slotElements);
}

type Agreement =
  /** Every rank takes the state after `step`. `source` has its weights; the ranks in `behind` need them. */
  | { readonly kind: "go-on"; readonly step: number; readonly source: number; readonly behind: readonly number[] }
  /** Some slots of the most advanced step are missing. Their holders may only be late: form the gang again. */
  | { readonly kind: "wait"; readonly step: number; readonly waited: number }
  /** All holders of some slots are lost: these ranks go back to the newest checkpoint; then all agree again. */
  | { readonly kind: "restore"; readonly step: number; readonly ranks: readonly number[] };

/** Formations with missing slots before these count as lost. A busy survivor may miss one formation and joins the next. */
export const patientFormations = 6;

/**
 * Decides from which state a generation continues, alike on every rank: the most advanced step if its slots are
 * complete, otherwise the most advanced complete state of a member; the others restore.
 * @param slotElements number of elements whose slots are needed to continue from a step
 */
export function agree(rankStates: readonly RankState[], slotElements: (step: number) => number): Agreement {
  const step = Math.max(...rankStates.map(({ finishedSteps }) => finishedSteps));
  const complete = covers(
    rankStates.flatMap((rankState) => holdingsAt(rankState, step)),
    slotElements(step),
  );
  const ranks = rankStates.map((_, rank) => rank);
  if (!complete) {
    const waited = Math.max(...rankStates.map((rankState) => rankState.waited));
    if (waited < patientFormations) return { kind: "wait", step, waited };
    return { kind: "restore", step, ranks: ranks.filter((rank) => !isWhole(rankStates[rank]!, slotElements(step))) };
  }
  const has = (rank: number) => rankStates[rank]!.finishedSteps === step;
  return { kind: "go-on", step, source: ranks.find(has)!, behind: ranks.filter((rank) => !has(rank)) };
}

/** Slots that one rank sends to another. If `from` is `to`, they are copied locally. */
export interface Transfer extends Span {
  readonly from: number;
  readonly to: number;
}

/** Returns the slot ranges that `rank` holds: its own segment's and the copy's, without empty ones. */
export function slotSpans(
  parameterCount: number,
  slotElements: number,
  worldSize: number,
  rank: number,
): readonly Span[] {
  return heldSegments(worldSize, rank)
    .map((owner) => clip(shardSegment(parameterCount, worldSize, owner), slotElements))
    .filter((span) => lengthOf(span) > 0);
}

/**
 * Plans the transfers of slots, alike on every rank; from the holder with the least to send so far. `targets`: spans by
 * rank.
 */
export function planTransfers(
  rankStates: readonly RankState[],
  step: number,
  targets: readonly (readonly Span[])[],
): readonly Transfer[] {
  const holdings = rankStates.map((rankState) => holdingsAt(rankState, step));
  const load = rankStates.map(() => 0);
  const transfers: Transfer[] = [];
  for (const [to, spans] of targets.entries()) {
    for (const span of spans) {
      for (let at = span.start; at < span.end; ) {
        const piece = nextPiece(holdings, load, to, at, span.end);
        transfers.push({ ...piece, to, start: at });
        if (piece.from !== to) load[piece.from]! += piece.end - at;
        at = piece.end;
      }
    }
  }
  return transfers;
}

function nextPiece(
  holdings: readonly (readonly Holding[])[],
  load: readonly number[],
  to: number,
  at: number,
  limit: number,
): { readonly from: number; readonly end: number } {
  const reach = (rank: number) =>
    Math.max(at, ...holdings[rank]!.filter(({ start, end }) => start <= at && end > at).map(({ end }) => end));
  const reached = reach(to);
  if (reached > at) return { from: to, end: Math.min(reached, limit) };
  const candidates = holdings.map((_, rank) => rank).filter((rank) => reach(rank) > at);
  if (candidates.length === 0) throw new RangeError(`no rank has the slots of element ${at}`);
  const from = candidates.reduce((best, rank) => (load[rank]! < load[best]! ? rank : best));
  const ownStart = Math.min(limit, ...holdings[to]!.map(({ start }) => start).filter((start) => start > at));
  return { from, end: Math.min(reach(from), ownStart) };
}
