/** The generation cannot continue: `enter` the next one. Unfinished operations do not count. */
export class GenerationLostError extends Error {
  constructor(
    readonly generation: number,
    /** The lost rank, if known. */
    readonly rank: number | undefined,
    reason: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`generation ${generation} lost${rank === undefined ? "" : ` rank ${rank}`}: ${reason}`, options);
    this.name = "GenerationLostError";
  }
}

/** The cause of a loss: no connection to that rank, or no answer from it, in time. */
export class RankUnreachableError extends Error {
  constructor(withinMs: number) {
    super(`not connected within ${withinMs} ms`);
    this.name = "RankUnreachableError";
  }
}
