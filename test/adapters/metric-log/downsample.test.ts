import { compactSegment } from "../../../adapters/metric-log/compaction";
import { eachSeries, unpackPoints } from "../../../adapters/metric-log/packed-points";
import { type StoredSeries, unpackDirectory } from "../../../adapters/metric-log/series";
import { decimate, downsample } from "../../../adapters/metric-log/views";

const point = (step: number, value: number) => ({ step, value, time: step });
const all = (values: readonly number[]) => values.map((value, i) => ({ points: [point(i, value)], count: 1 }));
const stepsOf = (points: readonly { readonly step: number }[]) => points.map(({ step }) => step);

describe("fewer points", () => {
  it("are the first, the last, and of each stretch the least and the greatest", () => {
    // Two stretches: 0–4 and 5–9.
    const values = [3, 9, 1, 4, 4, 4, 2, 8, 8, 5];
    expect(stepsOf(decimate(all(values), 6))).toEqual([0, 1, 2, 6, 7, 9]);
  });

  it.each([
    [1, [9]],
    [2, [0, 9]],
    [3, [0, 9]],
  ])("%d of ten", (most, steps) => {
    expect(stepsOf(decimate(all([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), most))).toEqual(steps);
  });

  it("show where there is no number, and infinities as extremes", () => {
    // Three stretches: 0–3, 4–6 and 7–9.
    const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
    expect(stepsOf(decimate(all([1, 1, 2, nan, nan, nan, nan, 2, 3, infinity]), 8))).toEqual([0, 2, 4, 7, 9]);
  });

  it("are found without reading most of a series", async () => {
    const count = 40_000;
    const steps = Array.from({ length: count }, (_, i) => i);
    const values = steps.map((step) => (step === 12_345 ? 100 : step === 30_001 ? -100 : Math.sin(step)));
    const [group] = [...compactSegment([{ ids: [3], counts: [count], steps, times: steps, values }])];
    const opened: number[] = [];
    const series: StoredSeries = {
      loose: [point(count, 7)],
      entries: unpackDirectory(group!.directory, 3),
      async openEntries(entries) {
        return entries.map(({ block, first }) => {
          opened.push(block);
          const points: ReturnType<typeof point>[] = [];
          const columns = unpackPoints(group!.blocks[block]!);
          eachSeries(columns, (_id, from, to) => {
            if (columns.steps[from] !== first.step) return;
            for (let i = from; i < to; i += 1) points.push(point(columns.steps[i]!, columns.values[i]!));
          });
          return points;
        });
      },
    };
    const view = await downsample(series, "point", 100);
    expect(view.total).toBe(count + 1);
    expect(view.points.length).toBeLessThanOrEqual(100);
    expect(stepsOf(view.points)).toEqual(expect.arrayContaining([0, 12_345, 30_001, count]));
    expect(opened).toEqual([]);
    const zoomed = await downsample(series, "point", 100, { fromStep: 12_340, toStep: 12_349 });
    expect(stepsOf(zoomed.points)).toEqual(Array.from({ length: 10 }, (_, i) => 12_340 + i));
    expect(opened).toHaveLength(1);
  });
});
