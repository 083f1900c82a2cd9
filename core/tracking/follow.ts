import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod";
import { InvalidInputError } from "../errors";
import type { Clock } from "../ports";
import { isOpen } from "../runs/run-states";
import type { Run } from "../runs/shapes";
import type { MetricPoint, MetricStore, SeriesPosition } from "./metric-store";

/** An event for a follower. `id` is the position from which a follower continues after a disconnect. */
export type FollowEvent =
  | { readonly event: "run"; readonly data: FollowedRun }
  | { readonly event: "metrics"; readonly id: string; readonly data: { readonly metrics: readonly FollowedSeries[] } }
  /** The run has ended and all points were sent. The follower must not reconnect. */
  | { readonly event: "end"; readonly id: string; readonly data: FollowedRun }
  /** Sent when there is nothing new, to show that the connection is alive. */
  | { readonly event: "heartbeat" };

type FollowedRun = Pick<Run, "runId" | "status" | "phase" | "updatedAt" | "endedAt" | "failure" | "outcome">;

interface FollowedSeries {
  readonly metric: string;
  /** Ascending by step, and all after those of earlier events. */
  readonly points: readonly MetricPoint[];
}

interface FollowDependencies {
  readonly findRun: () => Promise<Run | undefined>;
  readonly metrics: Pick<MetricStore, "summaries" | "readAfter">;
  readonly clock: Clock;
  /** Resolves early if the follower has disconnected. */
  readonly sleep: (ms: number) => Promise<void>;
}

export interface FollowOptions {
  readonly runId: string;
  readonly from: FollowCursor;
  readonly metric?: string;
  /**
   * Time at which the stream ends by itself, milliseconds since the epoch. The follower reconnects with the last id.
   */
  readonly until: number;
  readonly isGone: () => boolean;
}

/** Pause between two reads; a trainer sends every half second. It grows while nothing new arrives. */
const minPauseMs = 1_000;
const maxPauseMs = 4_000;
/** Together with the longest pause and a second for the read, an event is sent at least every 15 s. */
const heartbeatMs = 10_000;
/** Time after a run's end in which a trainer's last batches may arrive. */
const settleMs = 3_000;
/** Maximum number of points of one event, over all its metrics. */
const pointsPerEvent = 5_000;

const start: SeriesPosition = { step: -1, item: 0 };

/**
 * Follows a run: sends its points, then new ones, until the run has ended and all points were sent. Each point is sent
 * once within a stream and its continuations. Exception: a point that is stored after a later point of its metric was
 * sent. A client that needs every point reads them as JSON.
 */
export async function* followRun(
  dependencies: FollowDependencies,
  options: FollowOptions,
): AsyncGenerator<FollowEvent> {
  const { findRun, metrics, clock, sleep } = dependencies;
  const { runId, metric: wanted, until, isGone } = options;
  const positions = new Map(options.from.positions);
  let sentState = "";
  let sentAt = clock.now();
  let pause = minPauseMs;

  while (!isGone()) {
    // The run is read before its points, so that points that were written before its end are included.
    const run = await findRun();
    if (!run) return;
    const state = stateOf(run);
    const settled = !isOpen(run.status) && clock.now() - Date.parse(run.endedAt ?? run.updatedAt) >= settleMs;
    let news = false;

    if (JSON.stringify(state) !== sentState) {
      sentState = JSON.stringify(state);
      news = true;
      yield { event: "run", data: state };
    }
    const behind = metricsBehind(await metrics.summaries(runId), positions, wanted);
    for await (const series of newPoints(metrics, runId, behind, positions)) {
      if (isGone() || clock.now() >= until) return;
      news = true;
      yield { event: "metrics", id: encodeCursor({ positions, ended: false }), data: { metrics: series } };
    }
    if (settled) {
      yield { event: "end", id: encodeCursor({ positions, ended: true }), data: state };
      return;
    }
    if (news) sentAt = clock.now();
    else if (clock.now() - sentAt >= heartbeatMs) {
      sentAt = clock.now();
      yield { event: "heartbeat" };
    }
    pause = news ? minPauseMs : Math.min(maxPauseMs, pause * 1.5);
    if (clock.now() + pause >= until) return;
    await sleep(pause);
  }
}

/** Returns the metrics whose summaries show points after the follower's position. */
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

/**
 * Reads new points of several metrics, some thousand at a time. Advances `positions` past the points that it yields.
 */
export async function* newPoints(
  metrics: Pick<MetricStore, "readAfter">,
  runId: string,
  behind: readonly string[],
  positions: Map<string, SeriesPosition>,
): AsyncGenerator<readonly FollowedSeries[]> {
  let part: FollowedSeries[] = [];
  let size = 0;
  for (const metric of behind) {
    let from = positions.get(metric) ?? start;
    let hasPoints = false;
    for (let more = true, again = from.item > 0; more; ) {
      const page = await metrics.readAfter(runId, metric, from);
      from = page.position;
      more = page.more;
      if (page.points.length > 0) {
        hasPoints = true;
        part.push({ metric, points: page.points });
        size += page.points.length;
        positions.set(metric, from);
      } else if (!more && !hasPoints && again) {
        // Batches of two leaders may overlap, so that a new point is in an item before the last one.
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

/**
 * The position of a follower: for each metric the last point that it received, and whether it received the run's end.
 */
interface FollowCursor {
  readonly positions: ReadonlyMap<string, SeriesPosition>;
  readonly ended: boolean;
}

export const beginning: FollowCursor = { positions: new Map(), ended: false };

/** Uncompressed size: a name of 200 characters and two numbers for each metric of the largest batch. */
const maxInflatedBytes = 256 * 1024;

const count = z.int().min(-1);
const content = z.strictObject({ end: z.boolean().optional(), at: z.record(z.string(), z.tuple([count, count])) });

/** Encodes a cursor as an event id of 20 to 2,000 characters: a browser sends it in a header. Compressed. */
export function encodeCursor({ positions, ended }: FollowCursor): string {
  const at = Object.fromEntries([...positions].map(([metric, { step, item }]) => [metric, [step, item]]));
  return deflateRawSync(JSON.stringify(ended ? { end: true, at } : { at })).toString("base64url");
}

/** Decodes an event id. @throws InvalidInputError for an id that no stream has sent */
export function decodeCursor(id: string): FollowCursor {
  try {
    const text = inflateRawSync(Buffer.from(id, "base64url"), { maxOutputLength: maxInflatedBytes }).toString("utf8");
    const { at, end } = content.parse(JSON.parse(text));
    const positions = new Map(Object.entries(at).map(([metric, [step, item]]) => [metric, { step, item }]));
    return { positions, ended: end === true };
  } catch (cause) {
    const rule = "must be the id of an event of this stream";
    throw new InvalidInputError("the stream cannot be resumed", [{ path: "last-event-id", value: id, rule }], cause);
  }
}
