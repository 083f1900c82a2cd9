import fc from "fast-check";
import { compactSegment } from "../../../adapters/metric-log/compaction";
import { decimate, downsample } from "../../../adapters/metric-log/curves";
import { ByteReader, ByteWriter, eachSeries, unpackPoints } from "../../../adapters/metric-log/packed-points";
import { Receipts } from "../../../adapters/metric-log/receipts";
import { type StoredSeries, unpackDirectory } from "../../../adapters/metric-log/series";

const written = (write: (out: ByteWriter) => void): Buffer => {
  const out = new ByteWriter(1);
  write(out);
  return out.bytes();
};

describe("packed numbers", () => {
  it("are seven bits a byte", () => {
    expect([...written((out) => out.count(127))]).toEqual([127]);
    expect([...written((out) => out.count(300))]).toEqual([0b1010_1100, 0b10]);
  });

  it.each([
    ["equal ones once", [5, 5, 5, 5], [0, 10]],
    ["whole ones as differences", [100, 101, 99], [1, 0b1100_1000, 1, 2, 3]],
  ])("%s", (_what, column, bytes) => {
    expect([...written((out) => out.column(column))]).toEqual(bytes);
  });

  const integer = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.constantFrom(2 ** 51, -(2 ** 51), 2 ** 53 - 1));
  it("come back as they were, whatever they are", () => {
    const column = fc.oneof(fc.array(integer), fc.array(fc.double()), fc.array(fc.constant(-0)));
    fc.assert(
      fc.property(
        column,
        fc.array(fc.double()),
        fc.string({ unit: "binary" }),
        fc.maxSafeInteger(),
        (c, f, text, n) => {
          const count = Math.abs(n);
          const bytes = written((out) => {
            out.column(c);
            out.floats(f);
            out.text(text);
            out.count(count);
          });
          const from = new ByteReader(bytes);
          expect(from.column(c.length)).toEqual(c);
          expect(from.floats(f.length)).toEqual(f);
          expect(from.text()).toBe(text);
          expect(from.count()).toBe(count);
          expect(from.done).toBe(true);
        },
      ),
    );
  });

  it("that end too early are an error", () => {
    expect(() => new ByteReader(Buffer.of(128)).count()).toThrow(RangeError);
    expect(() => new ByteReader(Buffer.of(1, 2)).float()).toThrow("outside buffer bounds");
  });
});

function again(receipts: Receipts): Receipts {
  const out = new ByteWriter();
  receipts.write(out);
  return Receipts.read(new ByteReader(out.bytes()));
}

describe("receipts", () => {
  it("know each batch that came, in any order, and no other", () => {
    const receipts = new Receipts();
    for (const sequence of [5, 1, 2, 9, 4, 1]) receipts.add("w", sequence);
    for (const one of [receipts, again(receipts)]) {
      expect(Array.from({ length: 11 }, (_, i) => i).filter((i) => one.has("w", i))).toEqual([1, 2, 4, 5, 9]);
      expect(one.has("v", 1)).toBe(false);
    }
  });

  it("of a writer that leaves nothing out take no room, however many there are", () => {
    const receipts = new Receipts();
    for (let sequence = 0; sequence < 10_000; sequence += 1) receipts.add("w", sequence);
    const out = new ByteWriter();
    receipts.write(out);
    expect(out.length).toBeLessThan(10);
  });

  it("forget the oldest gaps and the writers that were silent longest", () => {
    const receipts = new Receipts();
    for (let i = 0; i < 40; i += 1) receipts.add("w", 2 * i);
    expect([receipts.has("w", 0), receipts.has("w", 78)]).toEqual([false, true]);
    for (let i = 0; i < 64; i += 1) receipts.add(`v${i}`, 1);
    expect([receipts.has("w", 78), receipts.has("v0", 1)]).toEqual([false, true]);
  });
});

const point = (step: number, value: number) => ({ step, value, time: step });
const all = (values: readonly number[]) => values.map((value, i) => ({ points: [point(i, value)], count: 1 }));
const stepsOf = (points: readonly { readonly step: number }[]) => points.map(({ step }) => step);

describe("fewer points", () => {
  it("are the first, the last, and of each stretch the least and the greatest", () => {
    // Two stretches: 0–4 and 5–9.
    const values = [3, 9, 1, 4, 4, 4, 2, 8, 8, 5];
    expect(stepsOf(decimate(all(values), 6))).toEqual([0, 1, 2, 6, 7, 9]);
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
