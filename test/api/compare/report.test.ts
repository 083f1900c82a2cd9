import { createHash } from "node:crypto";
import { compareRuns } from "../../../api/compare/compare";
import { comparisonMarkdown } from "../../../api/compare/markdown";
import { scaleOf } from "../../../api/pages/comparison/curve-plot";
import { comparisonHtml } from "../../../api/pages/comparison/page";
import { escapeHtml, html } from "../../../core/html/markup";
import { reportScript } from "../../../core/html/script";
import { deltaText, metricText } from "../../../core/quantities";
import { comparedRuns, requestOf } from "./compared";

describe("a metric's value for people", () => {
  it.each([
    ["system/worker-0/rss", 674_140_000, "674 MB"],
    ["system/worker-1/gpu-memory", 2_100_000_000, "2.1 GB"],
    ["data/read-bytes", 512, "512 B"],
    ["system/worker-0/rss", "NaN", "NaN"],
    ["train/loss", 674_140_000, "674140000"],
    ["kilobytes", 3, "3"],
  ] as const)("%s of %j is %s", (metric, value, text) => {
    expect(metricText(metric, value)).toBe(text);
  });

  it("differs from a baseline in the same unit", () => {
    expect(deltaText("system/worker-0/rss", -1_500_000, -0.034)).toBe("−1.5 MB (−3.4 %)");
    expect(deltaText("train/loss", 0.012, undefined)).toBe("+0.012");
    expect(deltaText("train/loss", 0, 0)).toBe("0 (0 %)");
  });
});

const compared = (request: Parameters<typeof requestOf>[0] = {}) =>
  compareRuns(comparedRuns(), requestOf({ baseline: "a", ...request }));

/** Without what stands between quotes or tags. */
function tagsOf(page: string): string {
  const body = page.slice(page.indexOf("<body>"), page.lastIndexOf("<script>"));
  return [...body.replaceAll(/"[^"]*"/g, '""').matchAll(/<[^>]*>/g)].join("\n");
}

describe("the report", () => {
  it("holds everything, and names nothing outside itself", async () => {
    const { html: page } = comparisonHtml(await compared(), "2026-03-01T12:00:00.000Z");
    for (const part of [
      "validation/loss ↓",
      "−0.25 (−50 %)",
      "Params that differ",
      "Params in common",
      "Code",
      "Data",
      "Environment",
    ]) {
      expect(page).toContain(part);
    }
    expect(page.match(/<figure/g)!.length).toBeGreaterThan(1);
    expect(page).not.toMatch(/<(?:link|img|iframe|object|embed|base)\b|url\(|@import/i);
    expect(tagsOf(page)).not.toMatch(/\s(?:src|href|srcset|action)=/i);
  });

  it("allows its own style and script by their digests, and nothing else", async () => {
    const { html: page } = comparisonHtml(await compared(), "2026-03-01T12:00:00.000Z");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!;
    expect(policy).not.toContain("unsafe");
    expect(policy).toContain("default-src &#39;none&#39;");
    for (const element of ["style", "script"]) {
      const content = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(page)![1]!;
      const digest = createHash("sha256").update(content).digest("base64");
      expect(policy).toContain(`${element}-src &#39;sha256-${digest}&#39;`);
    }
    // Attributes that are style or script would be refused by it.
    expect(tagsOf(page)).not.toMatch(/\s(?:style|on\w+)=/);
  });

  it("says what runs are called, and does nothing that they are called", async () => {
    const { html: page } = comparisonHtml(await compared(), "2026-03-01T12:00:00.000Z");
    expect(page).toContain("&lt;img src=x onerror=&#39;alert(1)&#39;&gt;");
    const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
    expect(scripts.map(([, attributes]) => attributes)).toEqual([' type="application/json"', ""]);
    expect(scripts[1]![2]).toBe(reportScript);
    expect(JSON.parse(scripts[0]![2]!)).toMatchObject({
      axis: "step",
      series: [{ run: 0, y: [2, null, 0.5] }, { run: 1 }, { run: 2 }],
    });
  });

  it("breaks lines where a value is none, and draws a point alone as a dot", async () => {
    const { html: page } = comparisonHtml(await compared(), "2026-03-01T12:00:00.000Z");
    const curve = page.slice(page.indexOf('<figure class="plot curve">'));
    const runs = [...curve.matchAll(/<g class="run r(\d)[^"]*">(.*?)<\/g>/g)].slice(0, 3);
    expect(
      runs.map(([, run, inner]) => [run, (inner!.match(/<circle/g) ?? []).length, inner!.includes("<path")]),
    ).toEqual([
      ["0", 2, false],
      ["1", 1, false],
      ["2", 1, false],
    ]);
  });
});

describe("Markdown", () => {
  it("has a table of each part, whatever runs are called", async () => {
    const text = comparisonMarkdown(await compared());
    const tables = text
      .trimEnd()
      .split("\n\n")
      .filter((part) => part.startsWith("|"));
    expect(tables).toHaveLength(7);
    for (const table of tables) {
      const widths = table.split("\n").map((line) => line.replaceAll("\\|", "").split("|").length);
      expect(new Set(widths).size).toBe(1);
    }
    expect(text).toContain("| `validation/loss` ↓ | 0.5 | **0.25** −0.25 (−50 %) | NaN |");
    // Text between backticks is shown literally.
    const outside = text.replaceAll(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g, "");
    expect(outside).not.toMatch(/<|\[a\]\(/);
    expect(outside).toContain("&lt;img");
  });
});

describe("a scale", () => {
  it.each([
    [[0, 10], undefined, [0, 2, 4, 6, 8, 10], false],
    [[0.31, 0.52], undefined, [0.35, 0.4, 0.45, 0.5], false],
    [[-1e-9, 1e-9], undefined, [-1e-9, -5e-10, 0, 5e-10, 1e-9], false],
    [[1e-4, 0.1], 50, [1e-4, 1e-3, 0.01, 0.1], true],
    [[0, 0.1], 50, [0, 0.02, 0.04, 0.06, 0.08, 0.1], false],
    [[2, 2], undefined, [1.8, 1.9, 2, 2.1, 2.2], false],
    [[], undefined, [0, 0.2, 0.4, 0.6, 0.8, 1], false],
    [[Number.NaN, Number.POSITIVE_INFINITY, 1, 3], undefined, [1, 1.5, 2, 2.5, 3], false],
  ])("of %j has ticks", (values, logWorthy, ticks, log) => {
    const scale = scaleOf(values, [0, 100], logWorthy);
    expect([scale.ticks, scale.log]).toEqual([ticks, log]);
    for (const tick of scale.ticks) {
      expect(scale.at(tick)).toBeGreaterThanOrEqual(0);
      expect(scale.at(tick)).toBeLessThanOrEqual(100);
    }
  });
});

describe("markup", () => {
  it("escapes what is not markup", () => {
    const name = `<b a="1">'&`;
    expect(html`<i title="${name}">${[name, html`<br>`, 3, undefined]}</i>`.text).toBe(
      `<i title="${escapeHtml(name)}">&lt;b a=&quot;1&quot;&gt;&#39;&amp;<br>3</i>`,
    );
  });
});
