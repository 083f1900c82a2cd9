import { type Holding, holdingsAt, type RankState } from "./rank-state";
import { clip, heldSegments, lengthOf, type Span, shardSegment } from "./segments";

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
 * Plans the transfers after which every rank has the slots of its spans. A rank takes its own slots from itself. Other
 * slots come from the holder with the least to send so far. It is a function of its arguments: every rank plans alike.
 *
 * @param targets spans by rank
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
  const own = reach(to);
  if (own > at) return { from: to, end: Math.min(own, limit) };
  const candidates = holdings.map((_, rank) => rank).filter((rank) => reach(rank) > at);
  if (candidates.length === 0) throw new RangeError(`no rank has the slots of element ${at}`);
  const from = candidates.reduce((best, rank) => (load[rank]! < load[best]! ? rank : best));
  const ownStart = Math.min(limit, ...holdings[to]!.map(({ start }) => start).filter((start) => start > at));
  return { from, end: Math.min(reach(from), ownStart) };
}
