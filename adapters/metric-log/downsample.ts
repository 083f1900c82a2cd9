import type { Downsampled, MetricPoint, PointRange } from "../../core/tracking/metric-store";
import { comparePoints, type PointIdentity } from "./packed-points";
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

/**
 * Keeps the first and the last point, and the extremes of each stretch between them.
 *
 * @param all in order
 */
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

/**
 * Returns the minimum and the maximum in order. If there is no number, returns the first point, so that the gap is
 * visible.
 */
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
