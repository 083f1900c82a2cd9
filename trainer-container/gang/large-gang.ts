import type { RendezvousTiming } from "./timing";

/**
 * Large gangs, *crowds*. One partition of the store gives 3,000 read units and 1,000 write units a second. A look at a whole gang of W members
 * costs about W / 10 read units, so that a thousand members that all look twenty times a second would ask for seven hundred times
 * what there is. In a crowd, therefore, few look at the whole gang, in turns; the others glance at the head and their own item. Nothing of this
 * touches safety, which rests on the head's condition: whoever looks late seals late, and whoever looks at too little does not seal.
 */

/** Milliseconds a worker: each bounds what all together ask of the partition, as a share of it. */
const perWorker = {
  /** 4 callers, each so often: 800 read units a second whatever W. */
  callMs: 0.5,
  /** 2 read units each: 1,000 a second. */
  glanceMs: 2,
  /** 100 write units a second. */
  renewMs: 10,
  /** All survivors write once before they are back, at 1,000 a second, with room for retries. */
  survivorCallMs: 3,
  firstCallMs: 5,
  patrolMs: 2,
};
/** Members that look at the whole gang in quick succession: usually the first seals, and if it died the second does. */
const callers = 4;
/** Ranks after a lost one that accuse it; were all to, each loss would cost W writes. */
const accusers = 8;

export function isCrowd(workers: number, timing: RendezvousTiming): boolean {
  return workers > timing.crowdWorkers;
}

/** What a crowd waits longer for. Small gangs' timing stays as it is. */
export function timingOf<T extends RendezvousTiming & { readonly patrolMs: number }>(timing: T, workers: number): T {
  if (!isCrowd(workers, timing)) return timing;
  const renewMs = Math.max(timing.renewMs, workers * perWorker.renewMs);
  return {
    ...timing,
    renewMs,
    leaseMs: Math.max(timing.leaseMs, 3 * renewMs),
    firstCallMs: Math.max(timing.firstCallMs, workers * perWorker.firstCallMs),
    survivorCallMs: Math.max(timing.survivorCallMs, workers * perWorker.survivorCallMs),
    patrolMs: Math.max(timing.patrolMs, workers * perWorker.patrolMs),
  };
}

/**
 * How long a member of a crowd waits between looks at the whole gang. The first in line look often. Of the others each
 * next group, twice as large, looks a quarter as often: together half as much as the group before, so that the sum stays bounded; yet
 * when all before it are dead, someone looks before long.
 *
 * @param position its place in line, from 0.
 */
export function wholeLookMs(position: number, workers: number): number {
  const group = position < callers ? 0 : 1 + Math.floor(Math.log2(position / callers));
  return workers * perWorker.callMs * 4 ** group;
}

export function glanceMs(workers: number): number {
  return workers * perWorker.glanceMs;
}

/** Whether this rank reports the loss of another to the store. Unreported, it costs the re-formation its last call, no more. */
export function accuses(rank: number, culprit: number, worldSize: number, timing: RendezvousTiming): boolean {
  return !isCrowd(worldSize, timing) || (rank - culprit + worldSize) % worldSize <= accusers;
}
