import { InvalidInputError } from "../../core/errors";
import type { Downsampled, HistoryPage, MetricPoint, PointRange, SeriesPage } from "../../core/tracking/metric-store";
import { comparePoints, mergePoints, type PointIdentity } from "./packed-points";
import { type DirectoryEntry, openAll, type StoredSeries, setApart } from "./series";

/** Number of points that are known of an entry without reading it. */
const pointsOfEntry = 4;

/**
 * Reduces a series to about `points` points for a screen. Min-max decimation (as in Steinarsson 2013, "Downsampling
 * Time Series for Visual Representation", 2.3, and M4 of Jugel et al. 2014): the series is divided into stretches of
 * equally many points, and the minimum and the maximum of each are kept at their own places.
 */
export async function downsample(
  series: StoredSeries,
  identity: PointIdentity,
  points: number,
  range: PointRange = {},
): Promise<Downsampled> {
  const apart = await setApart(series, identity, range);
  const { entries, loose, total } = apart;
  // The coarse view is used if it has enough points. The amount of data read then does not grow with the series.
  if (entries.length * pointsOfEntry < points || total <= points) {
    const all = await openAll(apart, identity);
    return { points: decimate(all.map(one), points), total };
  }
  const stretches = [...entries.map(known), ...loose.map(one)].sort((a, b) =>
    comparePoints(a.points[0]!, b.points[0]!),
  );
  return { points: decimate(stretches, points), total };
}

/** A range of neighbouring points of which some are known. */
interface Known {
  /** The first, the last, the minimum and the maximum, in order. */
  readonly points: readonly MetricPoint[];
  readonly count: number;
}

const one = (point: MetricPoint): Known => ({ points: [point], count: 1 });

function known({ first, last, least, greatest, count }: DirectoryEntry): Known {
  return { points: [first, least, greatest, last].sort(comparePoints), count };
}

/** Keeps the first and last point, and the extremes of each stretch between them. @param all in order */
export function decimate(all: readonly Known[], maxPoints: number): MetricPoint[] {
  const total = all.reduce((sum, { count }) => sum + count, 0);
  if (total <= maxPoints) return all.flatMap(({ points }) => points);
  const [first, last] = [all[0]!.points[0]!, all.at(-1)!.points.at(-1)!];
  if (maxPoints < 2) return [last];
  const stretches = Math.floor((maxPoints - 2) / 2);
  const chosen = [first];
  let before = 0;
  for (let i = 0; i < all.length && stretches > 0; ) {
    const stretch = Math.floor((before * stretches) / total);
    const inside: MetricPoint[] = [];
    while (i < all.length && Math.floor((before * stretches) / total) === stretch) {
      inside.push(...all[i]!.points);
      before += all[i]!.count;
      i += 1;
    }
    chosen.push(...extremes(inside));
  }
  chosen.push(last);
  return chosen.filter((point, i) => i === 0 || comparePoints(chosen[i - 1]!, point) < 0);
}

/** Returns minimum and maximum in order; without a number the first point, so that the gap is visible. */
function extremes(points: readonly MetricPoint[]): MetricPoint[] {
  const numbers = points.filter(({ value }) => !Number.isNaN(value));
  if (numbers.length === 0) return points.slice(0, 1);
  let [least, greatest] = [numbers[0]!, numbers[0]!];
  for (const point of numbers) {
    if (point.value < least.value) least = point;
    if (point.value > greatest.value) greatest = point;
  }
  return comparePoints(least, greatest) <= 0 ? [least, greatest] : [greatest, least];
}

/** Compares by time, then step, then value, the order of a history in MLflow. */
function compareInTime(a: MetricPoint, b: MetricPoint): number {
  return a.time !== b.time ? a.time - b.time : comparePoints(a, b);
}

/** A page by time. Reads only entries that may hold the next points. @throws InvalidInputError for a foreign token */
export async function historyPage(
  series: StoredSeries,
  identity: PointIdentity,
  { limit, token }: { readonly limit: number; readonly token?: string },
): Promise<HistoryPage> {
  const after = token === undefined ? undefined : decodeToken(token);
  const behind = (point: MetricPoint): boolean => after === undefined || compareInTime(point, after) > 0;
  const apart = await setApart(series, identity);
  const pending = apart.loose.filter(behind).sort(compareInTime);
  const waiting = apart.entries
    .filter(({ latest }) => after === undefined || latest >= after.time)
    .sort((a, b) => a.earliest - b.earliest);
  for (let next = 0; next < waiting.length; ) {
    // The page is settled once there is one more point than it holds before the earliest unread entry.
    const settled = pending[limit];
    if (settled !== undefined && settled.time < waiting[next]!.earliest) break;
    const some = entriesFrom(waiting, next, limit + 1 - pending.length);
    const opened = await apart.openEntries(some);
    for (const points of opened) for (const point of points) if (behind(point)) pending.push(point);
    pending.sort(compareInTime);
    next += some.length;
  }
  const points = pending.slice(0, limit);
  return pending.length > limit ? { points, nextToken: encodeToken(points.at(-1)!) } : { points };
}

function entriesFrom<Entry extends DirectoryEntry>(waiting: readonly Entry[], from: number, wanted: number): Entry[] {
  let to = from;
  for (let count = 0; to < waiting.length && (to === from || count < wanted); to += 1) count += waiting[to]!.count;
  return waiting.slice(from, to);
}

function encodeToken({ time, step, value }: MetricPoint): string {
  const bytes = Buffer.alloc(24);
  [time, step, value].forEach((number, i) => void bytes.writeDoubleLE(number, 8 * i));
  return bytes.toString("base64url");
}

function decodeToken(token: string): MetricPoint {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== 24 || bytes.toString("base64url") !== token) {
    const rule = "must be the token of an earlier page";
    throw new InvalidInputError("the page of points cannot be found", [
      { path: "token", value: token.slice(0, 100), rule },
    ]);
  }
  const [time, step, value] = [0, 8, 16].map((at) => bytes.readDoubleLE(at));
  return { time: time!, step: step!, value: value! };
}

const followedPoints = 10_000;

/**
 * Reads a page of a series after a step, in the order of steps.
 * @param version version of the log from which the series was read; a follower that has all points continues there
 */
export async function followPage(
  series: StoredSeries,
  identity: PointIdentity,
  step: number,
  version: number,
): Promise<SeriesPage> {
  const { entries, loose, openEntries } = await setApart(series, identity, { fromStep: step + 1 });
  let count = 0;
  const taken = entries.filter(({ count: points }) => {
    const room = count < followedPoints;
    count += points;
    return room;
  });
  const next = entries[taken.length];
  // Loose points past the next entry belong to the page with this entry.
  const between = loose.filter((point) => next === undefined || comparePoints(point, next.first) < 0);
  const points = mergePoints([...between, ...(await openEntries(taken)).flat()], identity);
  const last = points.at(-1)?.step ?? step;
  return { points, position: { step: last, item: next === undefined ? version : 0 }, more: next !== undefined };
}
