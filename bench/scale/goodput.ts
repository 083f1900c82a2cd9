import type { LinkModel } from "./links";

export interface GoodputLine {
  readonly workers: number;
  /** Lost workers, as a share of all, an hour. */
  readonly lossRate: number;
  /** Losses of the whole gang an hour. */
  readonly lossesAnHour: number;
  /** From a loss until all train again: simulated. */
  readonly recoverMs: number;
  /** Share of the time in which the gang makes steps that count. */
  readonly goodput: number;
}

export interface Job {
  readonly stepMs: number;
  /** Weights and optimizer state, which a replacement receives. */
  readonly stateBytes: number;
}

/**
 * Each loss costs one re-formation and on average half a step, which is computed again; its replacement costs another re-formation at a step
 * boundary, and the state's way to it. Losses come one at a time; that fewer workers compute until the replacement is there is not counted.
 */
export function goodputOf(
  workers: number,
  lossRate: number,
  recoverMs: number,
  job: Job,
  links: LinkModel,
): GoodputLine {
  const lossesAnHour = workers * lossRate;
  const transferMs = (job.stateBytes * 8) / (links.gigabitsPerSecond * 1e6);
  const lostMs = recoverMs + job.stepMs / 2 + recoverMs + transferMs;
  return { workers, lossRate, lossesAnHour, recoverMs, goodput: 1 / (1 + (lossesAnHour * lostMs) / 3_600_000) };
}
