import type { MetricPoint, MetricSummary } from "../../core/tracking/metric-store";
import { groupOf } from "../metric-log/fold";
import { LogState, type Segment, type SegmentLimits } from "../metric-log/log-state";
import {
  addPoints,
  eachSeries,
  type LogBatch,
  type NumberedPoints,
  noPoints,
  packPoints,
  pointsAt,
  unpackBatch,
  unpackBatchOf,
  unpackPoints,
} from "../metric-log/packed-points";
import type { LoggedBatch, LogHead, YoungHead } from "./metric-rows";

/** The bytes of a young head in addition to the points: versions, receipts, attribute names. */
const headBytes = 256;
const bytesPerMetric = 48;
const bytesPerPoint = 12;

/**
 * A process's copy of a run's log in memory: the state that follows from all batches up to a version, and the points that
 * are not folded. Does no I/O.
 */
export class LogCopy {
  private readonly state: LogState;
  /** Whether the log has separate batches. Otherwise its head contains all of it, and the log is young. */
  grown: boolean;
  /** The points of the young log, until they are folded. The versions of these points are unknown. */
  private inline: NumberedPoints;
  /** The packed batches after `tailFrom`. */
  private tail: LoggedBatch[] = [];
  private tailFrom: number;
  /** The number of folded segments, and the last version in them. */
  folded: number;
  private foldedVersion: number;
  /** The version and size of the stored state, and the size of the later batches. */
  private storedVersion: number;
  private storedBytes: number;
  private bytesSinceStored = 0;

  /** @param head absent for an empty log */
  constructor(head: LogHead | undefined, limits: SegmentLimits) {
    this.state = head ? LogState.unpack(head.state, limits) : LogState.empty(limits);
    this.grown = head?.grown ?? false;
    this.inline = head?.inline ? unpackPoints(head.inline) : noPoints();
    this.tailFrom = head?.version ?? 0;
    this.folded = head?.folded ?? 0;
    this.foldedVersion = head?.foldedVersion ?? 0;
    this.storedVersion = head?.version ?? 0;
    this.storedBytes = head?.state.length ?? 0;
  }

  get version(): number {
    return this.state.version;
  }

  /** Returns the number of metrics that have points. Their numbers count from 0. */
  get metrics(): number {
    return this.state.statistics.names.length;
  }

  idOf(metric: string): number | undefined {
    return this.state.statistics.idOf(metric);
  }

  summaries(): MetricSummary[] {
    return this.state.statistics.summaries();
  }

  isStored(writer: string, sequence: number): boolean {
    return this.state.receipts.has(writer, sequence);
  }

  /** Returns the estimated memory in bytes. */
  get memoryBytes(): number {
    const tail = this.tail.reduce((sum, { data }) => sum + data.length + 100, 0);
    return tail + 300 * this.metrics + 40 * this.inline.steps.length;
  }

  apply(batch: LoggedBatch, unpacked: LogBatch = unpackBatch(batch.data)): void {
    this.state.apply(unpacked, batch.data.length);
    this.tail.push(batch);
    this.bytesSinceStored += batch.data.length;
  }

  applyAll(batches: readonly LoggedBatch[]): void {
    for (const batch of batches) this.apply(batch);
  }

  /** Returns whether the log stays young with a further batch. */
  fitsYoung({ names, points }: LogBatch, maxBytes: number): boolean {
    if (this.grown) return false;
    const bytesOfNames = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
    const metrics = bytesPerMetric * (this.metrics + names.length) + this.storedBytes + bytesOfNames;
    return headBytes + metrics + bytesPerPoint * (this.inline.steps.length + points.steps.length) <= maxBytes;
  }

  applyYoung(batch: LogBatch): void {
    this.state.apply(batch);
    addPoints(this.inline, batch.points);
  }

  /** Returns the head of the young log, which counts as stored. */
  takeYoungHead(): YoungHead {
    const { version } = this;
    const state = this.state.pack();
    this.storedBytes = state.length;
    this.storedVersion = version;
    this.tailFrom = version;
    return { version, state, inline: packPoints(this.inline) };
  }

  /** Returns whether the stored state is so old that a new reader would have to read many batches. */
  needsStateStored(batchesPerState: number): boolean {
    if (!this.grown) return false;
    return this.version - this.storedVersion >= batchesPerState && this.bytesSinceStored >= 2 * this.storedBytes;
  }

  /** Returns the state, which counts as stored; `undefined` if the state of this version is already stored. */
  takeState(): Uint8Array | undefined {
    if (this.version === this.storedVersion) return undefined;
    const state = this.state.pack();
    this.storedVersion = this.version;
    this.storedBytes = state.length;
    this.bytesSinceStored = 0;
    return state;
  }

  /** Returns the closed segments that are not folded, the oldest first. */
  get segmentsToFold(): readonly Segment[] {
    return this.grown ? this.state.unfolded(this.folded, this.foldedVersion) : [];
  }

  /** Returns the average number of groups of metrics per batch that folding has to write. */
  get groupsPerBatch(): number {
    return this.metrics === 0 ? 0 : ((groupOf(this.metrics - 1) + 1) * this.state.closed) / this.version;
  }

  /** Drops the points of folded segments. Returns whether there are more folded segments than before. */
  noteFolded(folded: number, version: number): boolean {
    if (folded <= this.folded || version > this.version) return false;
    this.folded = folded;
    this.foldedVersion = version;
    this.inline = noPoints();
    this.tail = this.tail.filter((batch) => batch.version > version);
    this.tailFrom = Math.max(this.tailFrom, version);
    this.state.prune(folded);
    return true;
  }

  /**
   * Returns the range of versions whose batches are neither folded nor in memory, if it reaches beyond `after`: after the
   * first, up to the second. The versions of a young log have no batches.
   */
  missingTail(after: number): readonly [after: number, to: number] | undefined {
    if (!this.grown || this.tailFrom <= Math.max(after, this.foldedVersion)) return undefined;
    return [this.foldedVersion, this.tailFrom];
  }

  addMissingTail(batches: readonly LoggedBatch[]): void {
    this.tail.unshift(...batches);
    this.tailFrom = this.foldedVersion;
  }

  /** Returns whether the batches after a version are not folded. */
  isUnfolded(after: number): boolean {
    return this.grown && after >= this.foldedVersion;
  }

  /** Returns the batches of a segment. The copy has to have all batches that are not folded. */
  batchesOf({ from, to }: Segment): NumberedPoints[] {
    const batches = this.tail.filter(({ version }) => version > from && version <= to);
    return [...(from === 0 ? [this.inline] : []), ...batches.map(({ data }) => unpackBatch(data).points)];
  }

  /**
   * Returns the points of a metric after a version that are not folded, in the order of the log, and all points of the
   * young log: the caller removes duplicates by their steps.
   */
  pointsOf(id: number, after: number): MetricPoint[] {
    const points: MetricPoint[] = [];
    eachSeries(this.inline, (one, from, to) => {
      if (one === id) points.push(...pointsAt(this.inline, from, to));
    });
    for (const { version, data } of this.tail) {
      if (version > after) for (const point of unpackBatchOf(data, id)) points.push(point);
    }
    return points;
  }
}
