import type { SeriesPage } from "../metric-repository";
import { comparePoints, mergePoints, type PointIdentity } from "./points";
import { type StoredSeries, setApart } from "./series";

/** Points of one page, about. */
const pagePoints = 10_000;

/**
 * What a series has past a step, from its beginning on, a page of it.
 *
 * @param version of the log that the series was read from; who has all of it goes on there
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
    const room = count < pagePoints;
    count += points;
    return room;
  });
  const next = entries[taken.length];
  // What lies between the entries belongs to the page that comes to it.
  const between = loose.filter((point) => next === undefined || comparePoints(point, next.first) < 0);
  const points = mergePoints([...between, ...(await openEntries(taken)).flat()], identity);
  const last = points.at(-1)?.step ?? step;
  return { points, position: { step: last, item: next === undefined ? version : 0 }, more: next !== undefined };
}
