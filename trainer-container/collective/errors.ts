/** The generation cannot go on; `enter` the next one. Nothing that was not finished counts. */
export class GenerationLostError extends Error {
  constructor(
    readonly generation: number,
    /** Rank that was lost, where it is known. */
    readonly rank: number | undefined,
    reason: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`generation ${generation} lost${rank === undefined ? "" : ` rank ${rank}`}: ${reason}`, options);
    this.name = "GenerationLostError";
  }
}

/** The cause of a loss: that rank took no connection from here, or answered none, in time. */
export class RankUnreachableError extends Error {
  constructor(withinMs: number) {
    super(`not connected within ${withinMs} ms`);
    this.name = "RankUnreachableError";
  }
}
