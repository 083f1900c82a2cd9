import type { Downsampled, MetricPoint, PointRange } from "../metric-store";
import type { DirectoryEntry } from "./directory";
import { comparePoints, type PointIdentity } from "./points";
import { openAll, type StoredSeries, setApart } from "./series";

/** What is known of an entry without opening it: as many points. */
const pointsOfEntry = 4;

/**
 * A view of a series for a screen of so many points. Min-max decimation (as in Steinarsson 2013, "Downsampling Time Series for Visual Representation", 2.3, and
 * M4 of Jugel et al. 2014): the series is cut into stretches of equally many points, and of each the least and the greatest are shown where they are.
 */
export async function downsample(
  series: StoredSeries,
  identity: PointIdentity,
  points: number,
  range: PointRange = {},
): Promise<Downsampled> {
  const apart = await setApart(series, identity, range);
  const { entries, loose, total } = apart;
  // Coarse where that is fine enough for so many points: then what is read does not grow with the series.
  if (entries.length * pointsOfEntry < points || total <= points) {
    const all = await openAll(apart, identity);
    return { points: decimate(all.map(one), points), total };
  }
  const stretches = [...entries.map(known), ...loose.map(one)].sort((a, b) =>
    comparePoints(a.points[0]!, b.points[0]!),
  );
  return { points: decimate(stretches, points), total };
}

/** Neighbouring points of which some are known. */
interface Known {
  /** In order: the first, the last, the least and the greatest among them. */
  readonly points: readonly MetricPoint[];
  readonly count: number;
}

const one = (point: MetricPoint): Known => ({ points: [point], count: 1 });

function known({ first, last, least, greatest, count }: DirectoryEntry): Known {
  return { points: [first, least, greatest, last].sort(comparePoints), count };
}

/** @param all in order */
export function decimate(all: readonly Known[], most: number): MetricPoint[] {
  const total = all.reduce((sum, { count }) => sum + count, 0);
  if (total <= most) return all.flatMap(({ points }) => points);
  const [first, last] = [all[0]!.points[0]!, all.at(-1)!.points.at(-1)!];
  if (most < 2) return [last];
  const stretches = Math.floor((most - 2) / 2);
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

/** The least and the greatest, in order; where there is no number, the first, for the gap to be seen. */
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
