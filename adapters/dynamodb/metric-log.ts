import type { MetricPoint } from "../../core/tracking/metric-store";
import { type FoldSizes, foldSizes } from "../metric-log/fold";
import type { SegmentLimits } from "../metric-log/log-state";
import { type LogBatch, packBatch } from "../metric-log/packed-points";
import { pauseBeforeRound } from "./client";
import { SegmentFold } from "./metric-fold";
import { LogCopy } from "./metric-log-copy";
import type { LogHead, MetricRows } from "./metric-rows";

export interface LogLimits {
  readonly segment: SegmentLimits;
  readonly fold: FoldSizes;
  /** The size up to which the whole log is in its head. */
  readonly youngBytes: number;
  /** The number of batches after which a state is stored, if they are larger than twice the state. */
  readonly batchesPerState: number;
}

export const logLimits: LogLimits = {
  // About 400 points per metric and per item of the table. A reader reads at most as much that is not folded.
  segment: { batches: 512, bytesPerMetric: 4 * 1024, minBytes: 128 * 1024, maxBytes: 1024 * 1024 },
  fold: foldSizes,
  youngBytes: 4 * 1024,
  batchesPerState: 32,
};

/** The maximum number of rounds. A round fails only if another write succeeded in the meantime. */
const rounds = 64;

/**
 * Reads and writes a run's log. The batches are the log, and they never change. A process writes batch n + 1 under the
 * condition that it does not exist, and only after it has read all batches up to n. One item per write therefore
 * determines order, receipts and metric numbers. Everything else (the head's state, segments folded by metric) is
 * derived from the batches, and any process may compute it any number of times.
 *
 * Callers must run the methods one after another (see `SharedLog`).
 */
export class MetricLog {
  private loaded: LogCopy | undefined;
  /** The segment that is being folded. It has the segment's points in memory. */
  private folding: SegmentFold | undefined;

  constructor(
    readonly runId: string,
    private readonly rows: MetricRows,
    private readonly limits: LogLimits,
  ) {}

  get isLoaded(): boolean {
    return this.loaded !== undefined;
  }

  /** Returns the loaded copy. */
  get copy(): LogCopy {
    if (!this.loaded) throw new Error(`the metrics of run ${this.runId} are not loaded`);
    return this.loaded;
  }

  /** Returns the estimated memory in bytes. */
  get memoryBytes(): number {
    return 1_000 + (this.loaded?.memoryBytes ?? 0);
  }

  /** Reads everything that was stored before the call. */
  async refresh(): Promise<void> {
    const copy = this.loaded;
    if (!copy?.grown) {
      await this.load();
      return;
    }
    copy.applyAll(await this.rows.batches(this.runId, copy.version));
    if (copy.segmentsToFold.length === 0) return;
    // Another process may have folded batches that this process still has in memory.
    const head = await this.rows.findHead(this.runId);
    if (head) this.noteFolded(copy, head.folded, head.foldedVersion);
  }

  /**
   * Loads the log, and discards the earlier copy.
   *
   * @param known the log's head, if the caller has just read it
   */
  async load(known?: LogHead): Promise<LogCopy> {
    const copy = new LogCopy(known ?? (await this.rows.findHead(this.runId)), this.limits.segment);
    if (copy.grown) copy.applyAll(await this.rows.batches(this.runId, copy.version));
    this.forget();
    this.loaded = copy;
    return copy;
  }

  forget(): void {
    this.loaded = undefined;
    this.folding = undefined;
  }

  /**
   * Appends a batch. The batch may depend on the content of the log, so `draft` is called again if another process was
   * first.
   *
   * @param draft returns `undefined` if there is nothing to write
   */
  async append(draft: (copy: LogCopy) => LogBatch | undefined): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const copy = this.loaded ?? (await this.load());
      const batch = draft(copy);
      if (!batch) return;
      const isYoung = copy.fitsYoung(batch, this.limits.youngBytes);
      if (isYoung ? await this.appendYoung(copy, batch) : await this.appendGrown(copy, batch)) return;
      if (round > 1) await pauseBeforeRound(round - 2);
    }
    throw new Error(`the metrics of run ${this.runId} could not be written: others were first ${rounds} times`);
  }

  private async appendYoung(copy: LogCopy, batch: LogBatch): Promise<boolean> {
    const before = copy.version;
    copy.applyYoung(batch);
    return this.putYoung(copy, before, false);
  }

  private async putYoung(copy: LogCopy, before: number, grown: boolean): Promise<boolean> {
    let stored = false;
    try {
      stored = await this.rows.putYoung(this.runId, before, copy.takeYoungHead(), grown);
    } finally {
      // After an error it is unknown whether the head was stored.
      if (!stored) this.forget();
    }
    return stored;
  }

  private async appendGrown(copy: LogCopy, batch: LogBatch): Promise<boolean> {
    if (!copy.grown) {
      if (!(await this.putYoung(copy, copy.version, true))) return false;
      copy.grown = true;
    }
    const logged = { version: copy.version + 1, data: packBatch(batch), by: this.rows.newWrite() };
    try {
      if (await this.rows.putBatch(this.runId, logged)) {
        copy.apply(logged, batch);
        return true;
      }
    } catch (error) {
      this.forget();
      throw error;
    }
    // The SDK may have sent the batch twice, so the second request found the first one's item.
    const others = await this.rows.batches(this.runId, copy.version);
    copy.applyAll(others);
    return others[0]?.by === logged.by;
  }

  /** Returns the number of closed segments that are not folded. */
  get closedSegments(): number {
    return this.loaded?.segmentsToFold.length ?? 0;
  }

  get groupsPerBatch(): number {
    return this.loaded?.groupsPerBatch ?? 0;
  }

  get needsStateStored(): boolean {
    return this.loaded?.needsStateStored(this.limits.batchesPerState) ?? false;
  }

  /** Stores the state, unless the state of this version is stored. */
  async storeState(): Promise<void> {
    const copy = this.loaded;
    const state = copy?.takeState();
    if (copy && state) await this.rows.storeState(this.runId, copy.version, state);
  }

  /**
   * Folds a number of groups of the oldest closed segment. Idempotent.
   *
   * @returns whether no closed segment is left
   */
  async fold(groups: number): Promise<boolean> {
    const copy = this.loaded;
    const [segment] = copy?.segmentsToFold ?? [];
    if (!copy || !segment) return true;
    if (this.folding?.segment.number !== segment.number) {
      await this.readMissingTail(copy, 0);
      this.folding = new SegmentFold(this.runId, this.rows, segment, copy.batchesOf(segment), this.limits.fold);
    }
    if (!(await this.folding.write(groups))) return false;
    await this.storeState();
    await this.rows.markFolded(this.runId, segment.number, segment.to);
    this.noteFolded(copy, segment.number, segment.to);
    return copy.segmentsToFold.length === 0;
  }

  private noteFolded(copy: LogCopy, folded: number, version: number): void {
    if (copy.noteFolded(folded, version)) this.folding = undefined;
  }

  private async readMissingTail(copy: LogCopy, after: number): Promise<void> {
    const missing = copy.missingTail(after);
    if (missing) copy.addMissingTail(await this.rows.batches(this.runId, ...missing));
  }

  /**
   * Returns the points after a version that are not folded, in the order of the log, and the number of folded segments.
   */
  async unfolded(id: number, after = 0): Promise<{ readonly points: MetricPoint[]; readonly folded: number }> {
    const { copy } = this;
    await this.readMissingTail(copy, after);
    return { points: copy.pointsOf(id, after), folded: copy.folded };
  }
}
