import type { BatchReceipt, MetricPoint, MetricSeries, MetricSummary } from "../../core/tracking/metric-store";
import { compactSegment, groupOf } from "../metric-log/compaction";
import { type LogHead, type LogLimits, LogState, logLimits } from "../metric-log/log-state";
import {
  appendTo,
  eachSeries,
  type LogBatch,
  noPoints,
  packBatch,
  pointsAt,
  unpackPoints,
} from "../metric-log/packed-points";
import { type DirectoryEntry, noSeries, type StoredSeries, unpackDirectory } from "../metric-log/series";
import { pauseBeforeRound } from "./client";
import { blockKey, type MetricRows } from "./metric-rows";

/** The maximum number of rounds. A round fails only if another write succeeded in the meantime. */
const rounds = 64;

interface WaitingCall extends Call {
  readonly settle: (duplicate: boolean) => void;
  readonly fail: (error: unknown) => void;
}

interface StoredEntry extends DirectoryEntry {
  readonly key: string;
  /** The index among the ranges of its metric in its block. */
  readonly place: number;
}

/**
 * A run's log. The batches are the log, and they never change. A process writes batch n + 1 under the condition that it
 * does not exist, and only after it has read all batches up to n. One item per write therefore determines order,
 * receipts and metric numbers. Everything else (the head's state, the segments that are compacted: ordered by metric) is
 * derived from the batches, and any process may compute it any number of times.
 *
 * Concurrent calls of the process run one after another. They share reads, and appends that arrive during a write are
 * one batch.
 */
export class MetricLog {
  private loaded: LogState | undefined;
  private last: Promise<unknown> = Promise.resolve();
  /** A refresh that has not begun. Callers that arrive before it begins share it. */
  private refreshing: Promise<void> | undefined;
  private readonly queue: CallPart<WaitingCall>[] = [];
  private isWriting = false;

  constructor(
    readonly runId: string,
    private readonly rows: MetricRows,
    private readonly limits: LogLimits = logLimits,
  ) {}

  get isLoaded(): boolean {
    return this.loaded !== undefined;
  }

  get memoryBytes(): number {
    return 1_000 + (this.loaded?.memoryBytes ?? 0);
  }

  get needsCompaction(): boolean {
    return this.loaded?.needsCompaction ?? false;
  }

  summaries(): Promise<readonly MetricSummary[]> {
    return this.fresh((state) => state.summaries());
  }

  series(metric: string): Promise<StoredSeries> {
    return this.fresh((state) => this.read(state, metric));
  }

  /**
   * Returns the points of a metric after a version of the log, and possibly earlier ones. They are as recent as the
   * last `summaries` call of this process.
   */
  seriesAfter(metric: string, after: number): Promise<{ readonly series: StoredSeries; readonly version: number }> {
    const read = async (state: LogState) => {
      const { version } = state;
      const id = state.idOf(metric);
      if (after === 0 || id === undefined || !state.isInTail(after)) {
        return { series: await this.read(state, metric), version };
      }
      await this.readMissingTail(state, after);
      return { series: { ...noSeries, loose: state.pointsOf(id, after) }, version };
    };
    return this.isLoaded ? this.exclusively(async () => read(await this.load())) : this.fresh(read);
  }

  async allSeries(head: LogHead): Promise<{ readonly metric: string; readonly series: StoredSeries }[]> {
    const state = await this.load(head);
    const all: { metric: string; series: StoredSeries }[] = [];
    for (const { metric } of state.summaries()) all.push({ metric, series: await this.read(state, metric) });
    return all;
  }

  /** Loads the log, if it is not loaded. @param head the log's head, if the caller has just read it */
  async load(head?: LogHead): Promise<LogState> {
    if (this.loaded) return this.loaded;
    const state = new LogState(head ?? (await this.rows.findHead(this.runId)), this.limits);
    if (state.batched) await this.readOn(state);
    this.loaded = state;
    return state;
  }

  /** Resolves once the points are stored, with whether they had been before. Calls during a write are one batch. */
  append(series: readonly MetricSeries[], receipt?: BatchReceipt): Promise<boolean> {
    return new Promise<boolean>((settle, fail) => {
      this.queue.push(...partsOf<WaitingCall>(series, { receipt, settle, fail }));
      if (!this.isWriting) void this.writeQueue();
    });
  }

  /** Writes the points of closed segments by metric, then the state. Idempotent; a later call repeats what failed. */
  async compact(): Promise<void> {
    await this.exclusively(async () => {
      const state = this.loaded;
      if (!state?.needsCompaction) return;
      const { segments } = state;
      if (segments.length > 0) await this.readMissingTail(state, 0);
      for (const segment of segments) {
        const groups = compactSegment(state.pointsIn(segment), this.limits.compaction);
        await this.rows.putGroups(this.runId, segment.to, groups);
      }
      const packed = state.pack();
      const compacted = segments.at(-1)?.to;
      if (!(await this.rows.storeState(this.runId, state.version, packed, compacted))) return this.forget();
      state.noteStored(packed);
      if (compacted !== undefined) state.noteCompacted(compacted);
    }).catch(() => this.forget());
  }

  private async fresh<T>(work: (state: LogState) => Promise<T> | T): Promise<T> {
    this.refreshing ??= this.exclusively(() => {
      this.refreshing = undefined;
      return this.refresh();
    });
    await this.refreshing;
    // Work in between may have failed and discarded the state, which must not be taken for an empty one.
    return this.exclusively(async () => work(await this.load()));
  }

  private exclusively<T>(work: () => Promise<T> | T): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  private async refresh(): Promise<void> {
    const state = this.loaded;
    if (!state?.batched) {
      this.forget();
      await this.load();
      return;
    }
    await this.readOn(state);
    if (state.segments.length === 0) return;
    // Another process may have compacted batches that this process still has in memory.
    const head = await this.rows.findHead(this.runId);
    if (head) state.noteCompacted(head.compacted);
  }

  private forget(): void {
    this.loaded = undefined;
  }

  /** Applies the batches after the state's version, and returns them. */
  private async readOn(state: LogState) {
    const batches = await this.rows.batches(this.runId, state.version);
    for (const batch of batches) state.apply(batch);
    return batches;
  }

  private async readMissingTail(state: LogState, after: number): Promise<void> {
    const missing = state.missingTail(after);
    if (missing) state.addMissingTail(await this.rows.batches(this.runId, ...missing));
  }

  private async writeQueue(): Promise<void> {
    this.isWriting = true;
    for (let parts = takeParts(this.queue); parts.length > 0; parts = takeParts(this.queue)) {
      const duplicates = new Set<WaitingCall>();
      try {
        await this.exclusively(() => this.write((state) => draftBatch(state, parts, duplicates)));
        for (const { call, isLast } of parts) if (isLast) call.settle(duplicates.has(call));
      } catch (error) {
        for (const { call } of parts) {
          call.failed = true;
          call.fail(error);
        }
      }
    }
    this.isWriting = false;
  }

  /**
   * Calls `draft` again if another process was first, because the batch may depend on the log; `undefined`: no batch.
   */
  private async write(draft: (state: LogState) => LogBatch | undefined): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const state = await this.load();
      const batch = draft(state);
      if (!batch) return;
      if (await this.tryWrite(state, batch)) return;
      if (round > 1) await pauseBeforeRound(round - 2);
    }
    throw new Error(`the metrics of run ${this.runId} could not be written: others were first ${rounds} times`);
  }

  /** Writes a batch. Returns `false` if another process was first. */
  private async tryWrite(state: LogState, batch: LogBatch): Promise<boolean> {
    const before = state.version;
    if (state.fitsInline(batch)) {
      state.applyInline(batch);
      return this.putHead(state, before, false);
    }
    if (!state.batched) {
      if (!(await this.putHead(state, before, true))) return false;
      state.batched = true;
    }
    const logged = { version: before + 1, data: packBatch(batch), by: this.rows.newWrite() };
    try {
      if (await this.rows.putBatch(this.runId, logged)) {
        state.apply(logged, batch);
        return true;
      }
    } catch (error) {
      this.forget();
      throw error;
    }
    // The SDK may have sent the batch twice, so the second request found the first one's item.
    return (await this.readOn(state))[0]?.by === logged.by;
  }

  private async putHead(state: LogState, before: number, batched: boolean): Promise<boolean> {
    let stored = false;
    try {
      stored = await this.rows.putHead(this.runId, before, state.takeHead(batched));
    } finally {
      // After an error it is unknown whether the head was stored.
      if (!stored) this.forget();
    }
    return stored;
  }

  /** Finds a metric's points: the points that are not compacted, and the directory entries of all others. */
  private async read(state: LogState, metric: string): Promise<StoredSeries> {
    const id = state.idOf(metric);
    if (id === undefined) return noSeries;
    await this.readMissingTail(state, 0);
    const loose = state.pointsOf(id, 0);
    const group = groupOf(id);
    const directories = await this.rows.directories(this.runId, group, state.lastCompacted);
    const entries = directories.flatMap(({ segment, data }) => {
      const all = unpackDirectory(data, id);
      return all.map((entry, i) => ({
        ...entry,
        key: blockKey(group, segment, entry.block),
        place: all.slice(0, i).filter(({ block }) => block === entry.block).length,
      }));
    });
    const series: StoredSeries<StoredEntry> = { loose, entries, openEntries: (some) => this.open(some) };
    return series as StoredSeries;
  }

  private async open(entries: readonly StoredEntry[]): Promise<MetricPoint[][]> {
    const blocks = await this.rows.blocks(this.runId, [...new Set(entries.map(({ key }) => key))]);
    const columnsOf = new Map([...blocks].map(([key, data]) => [key, unpackPoints(data)]));
    return entries.map(({ key, id, place }) => {
      const columns = columnsOf.get(key);
      if (!columns) throw new Error(`the metrics of run ${this.runId} lack ${key}, which their directory names`);
      let points: MetricPoint[] = [];
      let at = 0;
      eachSeries(columns, (one, from, to) => {
        if (one === id && at++ === place) points = pointsAt(columns, from, to);
      });
      return points;
    });
  }
}

/** Points of a batch, which stays below 400 KB: about 10 bytes per point and 1,000 per name. */
const maxPoints = 16_384;
const maxNames = 256;

/** A call that appends points. Its parts are written in order, and the receipt is in the last one. */
interface Call {
  readonly receipt?: BatchReceipt | undefined;
  /** A part could not be written. The others are then not written either: the receipt would confirm all of them. */
  failed?: boolean;
}

interface CallPart<C extends Call = Call> {
  readonly series: readonly MetricSeries[];
  readonly points: number;
  readonly call: C;
  readonly isLast: boolean;
}

function partsOf<C extends Call>(series: readonly MetricSeries[], call: C): CallPart<C>[] {
  const parts = [{ series: [] as MetricSeries[], points: 0, nameLength: 0 }];
  for (const one of series) {
    for (let from = 0; from < one.steps.length; ) {
      let part = parts.at(-1)!;
      // A long name may be a new one.
      const namesFull = part.series.length >= maxNames && part.nameLength > maxNames * 250;
      if (part.points >= maxPoints || part.series.length >= maxNames * 4 || namesFull) {
        part = { series: [], points: 0, nameLength: 0 };
        parts.push(part);
      }
      const to = Math.min(one.steps.length, from + maxPoints - part.points);
      part.series.push(slice(one, from, to));
      part.points += to - from;
      part.nameLength += one.metric.length;
      from = to;
    }
  }
  return parts.map(({ series, points }, i) => ({ series, points, call, isLast: i === parts.length - 1 }));
}

function slice(series: MetricSeries, from: number, to: number): MetricSeries {
  const { metric, steps, values, times } = series;
  if (from === 0 && to === steps.length) return series;
  return { metric, steps: steps.slice(from, to), values: values.slice(from, to), times: times.slice(from, to) };
}

/** Takes the parts for one batch from the front of a queue. The parts of failed calls are dropped. */
function takeParts<C extends Call>(queue: CallPart<C>[]): CallPart<C>[] {
  const taken: CallPart<C>[] = [];
  let points = 0;
  while (queue.length > 0) {
    const next = queue[0]!;
    if (next.call.failed !== true) {
      if (taken.length > 0 && (points + next.points > maxPoints || taken.length >= maxNames)) break;
      taken.push(next);
      points += next.points;
    }
    queue.shift();
  }
  return taken;
}

/** Builds one batch of several calls. Calls whose receipts the log has are omitted and added to `duplicates`. */
function draftBatch<C extends Call>(
  log: Pick<LogState, "idOf" | "isStored" | "metrics">,
  parts: readonly CallPart<C>[],
  duplicates: Set<C>,
): LogBatch | undefined {
  const newIds = new Map<string, number>();
  const receipts = new Map<string, BatchReceipt>();
  const points = noPoints();
  duplicates.clear();
  for (const { series, call, isLast } of parts) {
    const { receipt } = call;
    if (receipt) {
      const key = `${receipt.sequence} ${receipt.writer}`;
      if (log.isStored(receipt.writer, receipt.sequence) || receipts.has(key)) {
        duplicates.add(call);
        continue;
      }
      if (isLast) receipts.set(key, receipt);
    }
    for (const { metric, steps, values, times } of series) {
      const id = log.idOf(metric) ?? newIds.get(metric) ?? log.metrics + newIds.size;
      if (id >= log.metrics) newIds.set(metric, id);
      points.ids.push(id);
      points.counts.push(steps.length);
      appendTo(points.steps, steps);
      appendTo(points.times, times);
      appendTo(points.values, values);
    }
  }
  if (points.steps.length + receipts.size === 0) return undefined;
  return { names: [...newIds.keys()], receipts: [...receipts.values()], points };
}

/**
 * Builds the head of a new run's log, so that a run is created with its first points; `undefined` if they do not fit.
 */
export function firstHead(series: readonly MetricSeries[], receipt: BatchReceipt): LogHead | undefined {
  const parts = partsOf(series, { receipt });
  const state = new LogState(undefined, logLimits);
  const batch = parts.length === 1 ? draftBatch(state, parts, new Set()) : undefined;
  if (!batch) return undefined;
  state.applyInline(batch);
  const head = state.takeHead(false);
  return head.state.length + head.inline.length > logLimits.inlineBytes ? undefined : head;
}
