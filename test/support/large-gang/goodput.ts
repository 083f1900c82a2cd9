import type { LinkModel } from "./links";

export interface GoodputLine {
  readonly workers: number;
  /** Lost workers per hour, as a share of all. */
  readonly lossRate: number;
  /** Losses of the whole gang per hour. */
  readonly lossesAnHour: number;
  /** Simulated time from a loss until all train again. */
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
 * Computes the goodput. Each loss costs one re-formation and on average half a step, which is computed again. Its replacement
 * costs another re-formation at a step boundary, and the transfer of the state. Losses are sequential. The smaller number of
 * workers until the replacement is not counted.
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
