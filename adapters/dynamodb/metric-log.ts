import type { MetricPoint, MetricSummary } from "../../core/tracking/metric-store";
import { type FoldSizes, foldSizes, groupOf } from "../metric-log/fold";
import { LogState, type Segment, type SegmentLimits } from "../metric-log/log-state";
import {
  addPoints,
  eachSeries,
  type LogBatch,
  type NumberedPoints,
  noPoints,
  packBatch,
  packPoints,
  pointsAt,
  unpackBatch,
  unpackBatchOf,
  unpackPoints,
} from "../metric-log/packed-points";
import { pauseBeforeRound } from "./client";
import { SegmentFold } from "./metric-fold";
import type { LoggedBatch, LogHead, MetricRows } from "./metric-rows";

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
/** The bytes of a young head in addition to the points: versions, receipts, attribute names. */
const headBytes = 256;
const bytesPerMetric = 48;
const bytesPerPoint = 12;

/**
 * A process's view of a run's log. The batches are the log, and they never change. A process writes batch n + 1 under
 * the condition that it does not exist, and only after it has read all batches up to n. One item per write therefore
 * determines order, receipts and metric numbers. Everything else (the head's state, segments folded by metric) is
 * derived from the batches, and any process may compute it any number of times.
 *
 * Callers must run the methods that access the table one after another (see `MetricLogs`).
 */
export class MetricLog {
  private state: LogState;
  private grown = false;
  private inline: NumberedPoints = noPoints();
  /** The packed batches after `tailFrom`. */
  private tail: LoggedBatch[] = [];
  private tailFrom = 0;
  private folded = 0;
  private foldedVersion = 0;
  private folding: SegmentFold | undefined;
  private loaded = false;
  private keptVersion = 0;
  private keptBytes = 0;
  private bytesSinceKept = 0;

  constructor(
    readonly runId: string,
    private readonly rows: MetricRows,
    private readonly limits: LogLimits,
  ) {
    this.state = LogState.empty(limits.segment);
  }

  /** Returns the estimated memory in bytes. */
  get memoryBytes(): number {
    const tail = this.tail.reduce((sum, { data }) => sum + data.length + 100, 0);
    return 1_000 + tail + 300 * this.state.statistics.names.length + 40 * this.inline.steps.length;
  }

  isStored(writer: string, sequence: number): boolean {
    return this.state.receipts.has(writer, sequence);
  }

  summaries(): MetricSummary[] {
    return this.state.statistics.summaries();
  }

  get isLoaded(): boolean {
    return this.loaded;
  }

  /** Returns the number of metrics that have points. Their numbers count from 0. */
  get metrics(): number {
    return this.state.statistics.names.length;
  }

  get version(): number {
    return this.state.version;
  }

  idOf(metric: string): number | undefined {
    return this.state.statistics.idOf(metric);
  }

  /** Reads everything that was stored before the call. */
  async refresh(): Promise<void> {
    if (this.loaded && this.grown) {
      this.applyAll(await this.rows.batches(this.runId, this.version));
      if (this.state.unfolded(this.folded, this.foldedVersion).length === 0) return;
      // Another process may have folded batches that this process still has in memory.
      const head = await this.rows.findHead(this.runId);
      if (head) this.noteFolded(head.folded, head.foldedVersion);
      return;
    }
    await this.load();
  }

  /** Loads the log from the head on. Earlier knowledge is discarded. */
  private async load(): Promise<void> {
    const head = await this.rows.findHead(this.runId);
    this.forget();
    if (head) this.applyHead(head);
    this.loaded = true;
    if (this.grown) this.applyAll(await this.rows.batches(this.runId, this.version));
  }

  forget(): void {
    this.loaded = false;
    this.state = LogState.empty(this.limits.segment);
    this.grown = false;
    this.inline = noPoints();
    this.tail = [];
    this.tailFrom = 0;
    this.folded = 0;
    this.foldedVersion = 0;
    this.folding = undefined;
    this.keptVersion = 0;
    this.keptBytes = 0;
    this.bytesSinceKept = 0;
  }

  applyHead(head: LogHead): void {
    this.state = LogState.unpack(head.state, this.limits.segment);
    this.grown = head.grown;
    this.inline = head.inline ? unpackPoints(head.inline) : noPoints();
    this.folded = head.folded;
    this.foldedVersion = head.foldedVersion;
    this.tailFrom = head.version;
    this.keptVersion = head.version;
    this.keptBytes = head.state.length;
  }

  applyAll(batches: readonly LoggedBatch[]): void {
    for (const batch of batches) this.applyBatch(batch, unpackBatch(batch.data));
  }

  private applyBatch(batch: LoggedBatch, unpacked: LogBatch): void {
    this.state.apply(unpacked, batch.data.length);
    this.tail.push(batch);
    this.bytesSinceKept += batch.data.length;
  }

  /**
   * Appends a batch. The batch may depend on the content of the log, so `draft` is called again if another process was
   * first.
   *
   * @param draft returns `undefined` if there is nothing to write
   */
  async append(draft: (log: MetricLog) => LogBatch | undefined): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      if (!this.loaded) await this.load();
      const batch = draft(this);
      if (!batch) return;
      const stored = this.fitsYoung(batch) ? await this.appendYoung(batch) : await this.appendGrown(batch);
      if (stored) return;
      if (round > 1) await pauseBeforeRound(round - 2);
    }
    throw new Error(`the metrics of run ${this.runId} could not be written: others were first ${rounds} times`);
  }

  private fitsYoung({ names, points }: LogBatch): boolean {
    if (this.grown) return false;
    const { statistics } = this.state;
    const bytesOfNames = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
    const metrics = bytesPerMetric * (statistics.names.length + names.length) + this.keptBytes + bytesOfNames;
    const all = headBytes + metrics + bytesPerPoint * (this.inline.steps.length + points.steps.length);
    return all <= this.limits.youngBytes;
  }

  private async appendYoung(batch: LogBatch): Promise<boolean> {
    const before = this.version;
    this.state.apply(batch);
    addPoints(this.inline, batch.points);
    const stored = await this.putYoung(before, false);
    if (!stored) this.forget();
    return stored;
  }

  private async putYoung(before: number, grown: boolean): Promise<boolean> {
    const state = this.state.pack();
    const inline = packPoints(this.inline);
    this.keptBytes = state.length;
    this.keptVersion = this.version;
    this.tailFrom = this.version;
    try {
      return await this.rows.putYoung(this.runId, before, { version: this.version, grown, state, inline });
    } catch (error) {
      // It is unknown whether the batch was stored.
      this.forget();
      throw error;
    }
  }

  private async appendGrown(batch: LogBatch): Promise<boolean> {
    if (!this.grown) {
      if (!(await this.putYoung(this.version, true))) {
        this.forget();
        return false;
      }
      this.grown = true;
    }
    const logged = { version: this.version + 1, data: packBatch(batch), by: this.rows.newWrite() };
    try {
      if (await this.rows.putBatch(this.runId, logged)) {
        this.applyBatch(logged, batch);
        return true;
      }
    } catch (error) {
      this.forget();
      throw error;
    }
    // The SDK may have sent the batch twice, so the second request found the first one's item.
    const others = await this.rows.batches(this.runId, this.version);
    this.applyAll(others);
    return others[0]?.by === logged.by;
  }

  /** Returns the number of closed segments that are not folded. */
  get closedSegments(): number {
    return this.loaded && this.grown ? this.state.unfolded(this.folded, this.foldedVersion).length : 0;
  }

  /** Returns the average number of groups of metrics per batch that folding has to write. */
  get groupsPerBatch(): number {
    const { metrics, version } = this;
    return metrics === 0 ? 0 : ((groupOf(metrics - 1) + 1) * this.state.closed) / version;
  }

  /** Returns whether the stored state is so old that a new reader would have to read many batches. */
  get needsStateKept(): boolean {
    if (!this.loaded || !this.grown) return false;
    return this.version - this.keptVersion >= this.limits.batchesPerState && this.bytesSinceKept >= 2 * this.keptBytes;
  }

  /**
   * Folds a number of groups of the oldest closed segment. Idempotent.
   *
   * @returns whether no closed segment is left
   */
  async fold(groups: number): Promise<boolean> {
    if (this.closedSegments === 0) return true;
    const [segment] = this.state.unfolded(this.folded, this.foldedVersion) as [Segment];
    if (this.folding?.segment.number !== segment.number) {
      const batches = await this.batchesOf(segment.from, segment.to);
      this.folding = new SegmentFold(this.runId, this.rows, segment, batches, this.limits.fold);
    }
    if (!(await this.folding.write(groups))) return false;
    await this.keepState();
    await this.rows.markFolded(this.runId, segment.number, segment.to);
    this.noteFolded(segment.number, segment.to);
    return this.closedSegments === 0;
  }

  async keepState(): Promise<void> {
    const { version } = this;
    if (version === this.keptVersion) return;
    const state = this.state.pack();
    this.keptVersion = version;
    this.keptBytes = state.length;
    this.bytesSinceKept = 0;
    await this.rows.keepState(this.runId, version, state);
  }

  private noteFolded(folded: number, version: number): void {
    if (folded <= this.folded || version > this.version) return;
    this.folded = folded;
    this.foldedVersion = version;
    this.folding = undefined;
    this.inline = noPoints();
    this.tail = this.tail.filter((batch) => batch.version > version);
    this.tailFrom = Math.max(this.tailFrom, version);
    this.state.prune(folded);
  }

  private async batchesOf(from: number, to: number): Promise<NumberedPoints[]> {
    await this.completeTail();
    const batches = this.tail.filter(({ version }) => version > from && version <= to);
    const young = from === 0 ? [this.inline] : [];
    return [...young, ...batches.map(({ data }) => unpackBatch(data).points)];
  }

  private async completeTail(): Promise<void> {
    // The versions of a young log have no batches.
    if (this.tailFrom <= this.foldedVersion) return;
    const missing = await this.rows.batches(this.runId, this.foldedVersion, this.tailFrom);
    this.tail.unshift(...missing);
    this.tailFrom = this.foldedVersion;
  }

  /**
   * Returns the points after a version that are not folded, in the order of the log, and the number of folded segments.
   */
  async unfolded(id: number, after = 0): Promise<{ readonly points: MetricPoint[]; readonly folded: number }> {
    // A young log has no batches.
    if (this.grown && after < this.tailFrom) await this.completeTail();
    const points: MetricPoint[] = [];
    // The versions of these points are unknown. The caller removes duplicates by their steps.
    eachSeries(this.inline, (one, from, to) => {
      if (one === id) points.push(...pointsAt(this.inline, from, to));
    });
    for (const { version, data } of this.tail) {
      if (version > after) for (const point of unpackBatchOf(data, id)) points.push(point);
    }
    return { points, folded: this.folded };
  }

  /** Returns whether the batches after that version are not folded. */
  isUnfolded(after: number): boolean {
    return this.grown && after >= this.foldedVersion;
  }
}
