import { reportHtml } from "../../api/pages/version-report";
import { reportMarkdown } from "../../api/report/markdown";
import type { VersionReport } from "../../api/report/shapes";
import { calibrationOf } from "../../api/report/shown-evaluation";
import { verdictWord } from "../../core/registry/gates/verdict";

const at = "2026-01-01T00:00:00.000Z";
const hostile = `<script>alert("x")</script> & 'y' | **z**`;

const report: VersionReport = {
  model: hostile,
  version: 3,
  stage: "staging",
  runId: "run-1",
  createdAt: at,
  metrics: { accuracy: 0.912345 },
  approvals: [{ by: hostile, decision: "approved", reason: "looks\nright", at }],
  approvalsWithdrawn: `approval of ${hostile} withdrawn`,
  gate: {
    passed: false,
    at,
    champion: 2,
    checks: [
      { gate: "threshold", metric: "accuracy", value: 0.9123, limit: 0.9, passed: true, evidence: "as it must be" },
      {
        gate: "worst-slice",
        metric: "accuracy",
        value: 0.7,
        limit: 0.8,
        passed: false,
        evidence: hostile,
        slices: {
          column: hostile,
          estimate: 0.7,
          lower: 0.6,
          upper: 0.78,
          confidence: 0.95,
          resamples: 2_000,
          seed: 1,
          rows: 150,
          minimumRows: 30,
          judged: 2,
          leftOut: 1,
          slices: [
            { value: hostile, rows: 50, estimate: 0.7, lower: 0.6, upper: 0.78 },
            { value: null, rows: 100, estimate: 0.95, lower: 0.9, upper: 1 },
          ],
        },
      },
      {
        gate: "check",
        metric: "review",
        value: null,
        limit: null,
        passed: true,
        evidence: "fine",
        external: {
          kind: "command",
          digest: "d",
          answer: { passed: true, evidence: "fine", by: "ada", at, output: "```\n</pre><script>", command: "./r.sh" },
        },
      },
      {
        gate: "check",
        metric: "safety",
        value: null,
        limit: null,
        passed: false,
        pending: true,
        evidence: "waited for",
      },
    ],
  },
  latency: {
    predictions: 1_000,
    warmUp: 50,
    p50Ms: 1,
    p90Ms: 2,
    p99Ms: 3,
    maxMs: 4,
    histogram: [
      { fromMs: 1, toMs: 2, count: 900 },
      { fromMs: 2, toMs: 4, count: 100 },
    ],
    machine: { cpu: hostile, processors: 2, memoryMb: 512, host: "local", node: "v20", platform: "linux", arch: "x64" },
  },
  evaluation: {
    rows: 150,
    label: hostile,
    task: "balanced",
    slices: [{ column: hostile, value: hostile, rows: 150, metrics: { accuracy: 0.9 } }],
    importance: {
      metric: "accuracy",
      baseline: 0.9,
      rows: 50,
      repeats: 30,
      seed: 0,
      columns: [
        { columns: ["age"], mean: 0.2, deviation: 0.0512 },
        { columns: [hostile], mean: 0.01, deviation: 0.0212 },
      ],
    },
    classes: [hostile, true].map((value) => ({ value, support: 75, precision: 1, recall: 1, f1: 1 })),
    confusionMatrix: [
      [70, 5],
      [8, 67],
    ],
    calibration: {
      of: "positive",
      bins: [{ from: 0, to: 0.1, rows: 5, confidence: 0.05, observed: 0.1 }],
      error: 0.05,
    },
  },
};

describe("a version's report", () => {
  it("as a page: four plots, no script of anybody's, nothing fetched", () => {
    const { html: page, contentSecurityPolicy } = reportHtml(report);
    expect(page.match(/<svg /g)).toHaveLength(4);
    // The counts on full cells, the diagonal, are drawn so that they can be read there.
    expect(page.match(/<g class="full">/g)).toHaveLength(2);
    expect(page).not.toMatch(/<script|javascript:|<link|<img|src=|href=/i);
    expect(page).toContain("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;");
    expect(contentSecurityPolicy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; .*; sandbox$/,
    );
    // Every element that is opened is closed.
    const opened = [...page.matchAll(/<([a-z0-9]+)(?=[\s>])[^>]*[^/]>|<([a-z0-9]+)>/g)].map(([, a, b]) => a ?? b!);
    for (const name of ["table", "tr", "td", "svg", "g", "figure", "pre", "text", "h2", "h3"]) {
      expect([name, opened.filter((each) => each === name).length]).toEqual([
        name,
        page.split(`</${name}>`).length - 1,
      ]);
    }
  });

  it("as Markdown: tables that no text breaks", () => {
    const markdown = reportMarkdown(report);
    const rows = markdown.split("\n").filter((line) => line.startsWith("| ✘ | worst-slice"));
    expect(rows).toHaveLength(1);
    expect(rows[0]!.match(/(?<!\\)\|/g)).toHaveLength(7);
    expect(markdown).not.toMatch(/(?<!\\)<script>alert/);
    expect(markdown).toContain("````\n```\n</pre><script>\n````");
    expect(markdown).toContain("Left out for too few rows (30): 1 of 3.");
    expect(markdown).toContain("| looks right |");
    expect(markdown).toMatch(/^approval of .* withdrawn$/m);
    expect(reportHtml(report).html).toMatch(/<p class="refused">approval of &lt;script&gt;.* withdrawn<\/p>/);
  });

  it.each<[string, VersionReport["gate"]]>([
    ["not evaluated", undefined],
    ["passed", { passed: true, checks: [], at }],
    ["refused", report.gate],
    ["waiting for checks", { passed: false, checks: [report.gate!.checks[0]!, report.gate!.checks[3]!], at }],
  ])("says in a word: %s", (word, gate) => {
    expect(verdictWord({ gate })).toBe(word);
    expect(reportHtml({ ...report, gate }).html).toContain(`">${word}</span>`);
  });
});

describe("calibration", () => {
  it("of two classes: how often the second came true, by tenths", () => {
    const outputs = Float32Array.from([0.05, 0.05, 0.95, 0.95, 1]);
    const labels = Int32Array.from([0, 1, 1, 1, 0]);
    const { of, bins, error } = calibrationOf({ classes: 2, labels, outputs })!;
    expect([of, bins.length]).toEqual(["positive", 10]);
    expect(bins[0]).toMatchObject({ rows: 2, observed: 0.5 });
    expect(bins[9]).toMatchObject({ rows: 3, observed: 2 / 3 });
    // (2 · |0.5 - 0.05| + 3 · |2/3 - 2.9/3|) / 5
    expect(error).toBeCloseTo(0.36, 6);
  });

  it("of more: of the predicted one; of values: none", () => {
    const three = {
      classes: 3,
      labels: Int32Array.from([0, 1]),
      outputs: Float32Array.from([0.75, 0.25, 0, 0.75, 0.25, 0]),
    };
    expect(calibrationOf(three)).toMatchObject({ of: "predicted", error: 0.25 });
    expect(calibrationOf({ classes: 0, labels: new Float32Array(1), outputs: new Float32Array(1) })).toBeUndefined();
  });
});
