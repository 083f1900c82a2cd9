import type { SharedLog } from "./shared-metric-log";

/** The rate of folding, relative to the rate at which segments close. At 2, half of the calls find nothing to fold. */
const foldingPace = 2;
/** The minimum part of a group that each call folds, so that the work that other processes left is also completed. */
const minFolding = 1 / 8;
/**
 * The maximum number of groups that one call folds, about ten milliseconds of work. No other call waits longer than
 * that.
 */
const maxGroups = 8;
/**
 * The number of closed segments beyond which a call folds the oldest one, so that readers have few unfolded segments.
 * Only a segment with thousands of metrics has more groups than the regular folding covers. Several calls then share
 * the work.
 */
const maxClosedSegments = 2;

/**
 * Stores states and folds segments of all logs. Every call that writes folds a little of some run's segments. Folding a
 * whole segment at once would take as long as a hundred calls, and runs with the same rate close their segments at the
 * same time.
 */
export class LogUpkeep {
  /**
   * The logs with a closed segment, in the order in which it closed. Only the first one keeps folding data in memory.
   */
  private readonly waiting: SharedLog[] = [];
  /** The number of groups that calls still have to fold. */
  private due = 0;
  private isFolding = false;

  /** Does the work of one call. No caller waits for it, but a function is frozen once it has answered. */
  async afterAppend(shared: SharedLog): Promise<void> {
    const { log } = shared;
    if (log.needsStateStored) await shared.attempt(() => log.storeState());
    const { closedSegments } = log;
    if (closedSegments > 0 && !this.waiting.includes(shared)) this.waiting.push(shared);
    if (closedSegments > maxClosedSegments) {
      await shared.attempt(async () => {
        await log.fold(Number.POSITIVE_INFINITY);
      });
    }
    const [first] = this.waiting;
    if (!first) return;
    this.due += Math.max(minFolding, foldingPace * log.groupsPerBatch);
    if (this.isFolding || this.due < 1) return;
    const groups = Math.min(Math.floor(this.due), maxGroups);
    this.due -= groups;
    this.isFolding = true;
    await this.fold(first, groups);
    this.isFolding = false;
  }

  private async fold(first: SharedLog, groups: number): Promise<void> {
    let isDone = true;
    await first.attempt(async (log) => {
      isDone = await log.fold(groups);
    });
    if (isDone) this.waiting.shift();
  }

  /** Removes a log. Returns `false` if the log is needed, because it is the one that is being folded. */
  release(log: SharedLog): boolean {
    const place = this.waiting.indexOf(log);
    if (place > 0) this.waiting.splice(place, 1);
    return place !== 0;
  }
}
