import type { Comparison } from "../../../api/compare/comparison";
import { metricRows, paramRows } from "../../../api/compare/pivot";
import { paramPlots } from "../../../api/pages/comparison/param-plots";
import { byStrength, paramStrength } from "../../../api/pages/comparison/param-strength";
import { metricsOf, runOf } from "../../core/tracking/search/runs";

describe("how much of a metric a param explains", () => {
  it.each<[string, (string | null)[], number[], number]>([
    ["all of it where it grows with the metric", ["1", "2", "3", "10"], [0.1, 0.2, 0.3, 0.4], 1],
    ["all of it where it falls with the metric", ["1e-1", "1e-2", "1e-3"], [1, 2, 3], 1],
    // Ranks 0 to 3: 5 squares in all, 1 within the groups. 1 − (1 / 5) · (3 / 2).
    ["the share between groups of texts", ["a", "a", "b", "b"], [1, 2, 3, 4], 0.7],
    // Ranks 0, 1 | 4, 5 | 2, 3: 17.5 in all, 1.5 within. 1 − (1.5 / 17.5) · (5 / 3).
    ["an optimum in the middle", ["1", "1", "2", "2", "3", "3"], [1, 2, 5, 6, 3, 4], 1 - (1.5 / 17.5) * (5 / 3)],
    ["nothing where each run has a text of its own", ["a", "b", "c"], [1, 2, 3], 0],
    ["nothing where it is constant", ["1", "1", "1"], [1, 2, 3], 0],
    ["nothing where the metric is", ["1", "2", "3"], [1, 1, 1], 0],
    ["nothing where no run has both", ["1", null], [Number.NaN, 2], 0],
    ["what is known of runs that have both", ["1", "2", null, "9"], [1, 2, 3, Number.NaN], 1],
  ])("is %s", (_what, values, metric, share) => {
    expect(paramStrength(values, metric)).toBeCloseTo(share, 12);
  });

  it("orders params, ties by name, without constants", () => {
    const rows = [
      { name: "z-noise", values: ["5", "1", "4", "3"] },
      { name: "only-some", values: ["1", null, "1", null] },
      { name: "b-best", values: ["1", "2", "3", "4"] },
      { name: "a-best", values: ["4", "3", "2", "1"] },
    ];
    expect(byStrength(rows, [1, 2, 3, 4]).map(({ name }) => name)).toEqual(["a-best", "b-best", "z-noise"]);
  });
});

/** Pixels of a character of the plot's fonts, as Chromium draws them at most. */
const pixels = { title: 8, tick: 6.7 };

type Box = ReturnType<typeof drawn>["boxes"][number];

function drawn(comparison: Comparison) {
  const [, plot = ""] = paramPlots(comparison)!.text.split('<figure class="plot wide parallel">');
  const svg = plot.slice(0, plot.indexOf("</figure>"));
  const boxes = [
    ...svg.matchAll(/<text class="(title|tick)[^"]*" x="([\d.]+)" y="([\d.]+)">(?:<title>.*?<\/title>)?(.*?)<\/text>/g),
  ];
  return {
    width: Number(/viewBox="0 0 (\d+)/.exec(svg)![1]),
    boxes: boxes.map(([, kind, x, y, text = ""]) => {
      const wide = [...text].length * pixels[kind as keyof typeof pixels];
      const from = Number(x) - (kind === "title" ? wide / 2 : 0);
      return { kind, text, from, to: from + wide, y: Number(y) };
    }),
  };
}

function compared(params: number, value: (param: number, run: number) => string): Comparison {
  const runs = Array.from({ length: 12 }, (_, run) => {
    const named = Array.from({ length: params }, (_, param) => [
      `section_${param}.subsection.a_param_with_a_long_name_${param}`,
      value(param, run),
    ]);
    return {
      record: runOf(`run-${run}`, { params: { "aaa.constant": "1", ...Object.fromEntries(named) } }),
      metrics: metricsOf({ "test/accuracy": run / 12 }),
    };
  });
  return {
    runs: runs.map(({ record }) => record),
    params: paramRows(runs),
    metrics: metricRows(runs, ["test/accuracy"], undefined, {}),
    curves: [],
    differences: { code: [], data: [], environment: [] },
  };
}

describe("parallel coordinates", () => {
  it.each([1, 3, 5, 8, 20])("clip and overlap no label of %d params with long names and values", (params) => {
    const { width, boxes } = drawn(
      compared(params, (param, run) =>
        param % 2 === 0
          ? `s3://a-bucket/a/very/long/path/to/data-${(run * (param + 3) + (run % 3)) % 7}.parquet`
          : String(run * 12_345.678),
      ),
    );
    for (const { from, to } of boxes) {
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeLessThanOrEqual(width);
    }
    const overlaps = (a: Box, b: Box) => a !== b && a.kind === b.kind && a.y === b.y && a.from < b.to && b.from < a.to;
    expect(boxes.flatMap((a) => boxes.filter((b) => overlaps(a, b)))).toEqual([]);
    expect(boxes.filter(({ kind }) => kind === "title")).toHaveLength(Math.min(params, 8) + 1);
  });

  it("have the axes that explain most of the metric first, by the last parts of their names", () => {
    const { boxes } = drawn(compared(10, (param, run) => String(param === 9 ? run : (run * 7 + param * 5) % 12)));
    const titles = boxes.filter(({ kind }) => kind === "title").map(({ text }) => text);
    expect(titles[0]).toContain("name_9");
    expect(titles.at(-1)).toBe("test/accuracy");
    expect(titles.join()).not.toContain("constant");
  });
});
