import type { Clock } from "../ports";
import { isOpen, type Run } from "../training/run";
import { encodeCursor, type FollowCursor } from "./follow-cursor";
import type { MetricPoint, MetricStore, SeriesPosition } from "./metric-store";
import { type EncodedValue, encodedPoint } from "./metric-values";

/** What a follower is told. `id` is where he goes on after he was cut off. */
export type FollowEvent =
  | { readonly event: "run"; readonly data: FollowedRun }
  | { readonly event: "metrics"; readonly id: string; readonly data: { readonly metrics: readonly FollowedSeries[] } }
  /** The run has ended and everything was told: do not come again. */
  | { readonly event: "end"; readonly id: string; readonly data: FollowedRun }
  /** Nothing is new, and the line is alive. */
  | { readonly event: "heartbeat" };

export type FollowedRun = Pick<Run, "runId" | "status" | "phase" | "updatedAt" | "endedAt" | "failure" | "outcome">;

export interface FollowedSeries {
  readonly metric: string;
  /** Ascending by step; all of them after those of earlier events. */
  readonly points: readonly (Omit<MetricPoint, "value"> & { readonly value: EncodedValue })[];
}

interface NewPoints {
  readonly metric: string;
  readonly points: readonly MetricPoint[];
}

export interface FollowDependencies {
  readonly findRun: () => Promise<Run | undefined>;
  readonly metrics: Pick<MetricStore, "summaries" | "readAfter">;
  readonly clock: Clock;
  /** Resolves early where the follower is gone. */
  readonly sleep: (ms: number) => Promise<void>;
}

export interface FollowOptions {
  readonly runId: string;
  readonly from: FollowCursor;
  /** Of this metric alone. */
  readonly metric?: string;
  /** The stream ends by itself by then, milliseconds since the epoch; who follows comes again with the last id. */
  readonly until: number;
  /** Whether the follower is gone. */
  readonly isGone: () => boolean;
}

/** A trainer sends each half second. Where nothing comes, as in a queue, looking is rarer by and by. */
const shortestPauseMs = 1_000;
const longestPauseMs = 4_000;
/** With the longest pause, and a second for looking: a sign of life at least each 15 s. */
const heartbeatMs = 10_000;
/** A trainer's last batches may come in after the run's end. */
const settleMs = 3_000;
/** Of one event, over all its metrics. */
const pointsPerEvent = 5_000;

const start: SeriesPosition = { step: -1, item: 0 };

/**
 * Follows a run: what it has, then what comes in, until it has ended and all its points are told. Each point is told once in a stream and in those that
 * go on from its ids, except one that is stored after a later one of its metric was told; whoever needs every point reads them as JSON.
 */
export async function* followRun(
  dependencies: FollowDependencies,
  options: FollowOptions,
): AsyncGenerator<FollowEvent> {
  const { findRun, metrics, clock, sleep } = dependencies;
  const { runId, metric: wanted, until, isGone } = options;
  const positions = new Map(options.from.positions);
  let told = "";
  let toldAt = clock.now();
  let pause = shortestPauseMs;

  while (!isGone()) {
    // The run before its points: what was written before its end is then among them.
    const run = await findRun();
    if (!run) return;
    const state = stateOf(run);
    const settled = !isOpen(run.status) && clock.now() - Date.parse(run.endedAt ?? run.updatedAt) >= settleMs;
    let news = false;

    if (JSON.stringify(state) !== told) {
      told = JSON.stringify(state);
      news = true;
      yield { event: "run", data: state };
    }
    const behind = metricsBehind(await metrics.summaries(runId), positions, wanted);
    for await (const series of newPoints(metrics, runId, behind, positions)) {
      if (isGone() || clock.now() >= until) return;
      news = true;
      const encoded = series.map(({ metric, points }) => ({ metric, points: points.map(encodedPoint) }));
      yield { event: "metrics", id: encodeCursor({ positions, ended: false }), data: { metrics: encoded } };
    }
    if (settled) {
      yield { event: "end", id: encodeCursor({ positions, ended: true }), data: state };
      return;
    }
    if (news) toldAt = clock.now();
    else if (clock.now() - toldAt >= heartbeatMs) {
      toldAt = clock.now();
      yield { event: "heartbeat" };
    }
    pause = news ? shortestPauseMs : Math.min(longestPauseMs, pause * 1.5);
    if (clock.now() + pause >= until) return;
    await sleep(pause);
  }
}

/** Metrics that have points after the follower's position, as their summaries say. */
export function metricsBehind(
  summaries: readonly { readonly metric: string; readonly lastStep: number }[],
  positions: ReadonlyMap<string, SeriesPosition>,
  wanted?: string,
): readonly string[] {
  return summaries
    .filter(({ metric }) => wanted === undefined || metric === wanted)
    .filter(({ metric, lastStep }) => lastStep > (positions.get(metric) ?? start).step)
    .map(({ metric }) => metric);
}

/** Reads new points of several metrics, some thousand at a time. Advances `positions` past what it yields. */
export async function* newPoints(
  metrics: Pick<MetricStore, "readAfter">,
  runId: string,
  behind: readonly string[],
  positions: Map<string, SeriesPosition>,
): AsyncGenerator<readonly NewPoints[]> {
  let part: NewPoints[] = [];
  let size = 0;
  for (const metric of behind) {
    let from = positions.get(metric) ?? start;
    let found = false;
    for (let more = true, again = from.item > 0; more; ) {
      const page = await metrics.readAfter(runId, metric, from);
      from = page.position;
      more = page.more;
      if (page.points.length > 0) {
        found = true;
        part.push({ metric, points: page.points });
        size += page.points.length;
        positions.set(metric, from);
      } else if (!more && !found && again) {
        // Batches of two leaders may overlap: then what is new lies in an item before the last one's.
        again = false;
        more = true;
        from = { step: from.step, item: 0 };
      }
      if (size < pointsPerEvent) continue;
      yield part;
      part = [];
      size = 0;
    }
  }
  if (part.length > 0) yield part;
}

function stateOf({ runId, status, phase, updatedAt, endedAt, failure, outcome }: Run): FollowedRun {
  return { runId, status, phase, updatedAt, endedAt, failure, outcome };
}
