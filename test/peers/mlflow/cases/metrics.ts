import type { CaseGroup, MlflowCase, Step } from "../case";
import { get, getRun, onRun, post, refusedByUs } from "./steps";

const log = (key: unknown, value: unknown, timestamp: unknown = 1000, step?: unknown): Step =>
  post("runs/log-metric", { run_id: "<run>", key, value, timestamp, step });
const history = (metric_key: string, more: object = {}): Step =>
  get("metrics/get-history", { run_id: "<run>", metric_key, ...more });
const batch = (body: object): Step => post("runs/log-batch", { run_id: "<run>", ...body });
const metric = (key: unknown, value: unknown, timestamp: unknown = 1000, step?: unknown) => ({
  key,
  value,
  timestamp,
  step,
});
const many = <T>(n: number, make: (i: number) => T): readonly T[] => Array.from({ length: n }, (_, i) => make(i));
const interval = (query: object): Step =>
  get("metrics/get-history-bulk-interval", { run_ids: "<run>", metric_key: "a", ...query });

const points: readonly MlflowCase[] = [
  onRun("one", log("a", 0.5), history("a"), getRun),
  onRun(
    "the latest is that of the highest step, then time, then value",
    log("a", 1, 1000, 5),
    log("a", 2, 9000, 1),
    getRun,
    log("a", 3, 1000, 5),
    getRun,
    log("a", 0.5, 1001, 5),
    getRun,
    history("a"),
  ),
  onRun(
    "a history is in the order of time",
    log("a", 1, 3000, 0),
    log("a", 2, 1000, 2),
    log("a", 3, 2000, 1),
    history("a"),
  ),
  onRun("the very same point is one", log("a", 1, 1000, 0), log("a", 1, 1000, 0), log("a", 2, 1000, 0), history("a")),
  onRun("NaN", log("a", "NaN"), getRun, history("a"), log("a", "NaN"), history("a")),
  onRun("infinities", log("a", "Infinity"), log("b", "-Infinity"), getRun, history("a"), history("b")),
  onRun("great and small", log("a", 1.7976931348623157e308), log("b", 5e-324), log("c", -0), log("d", 1e-300), getRun),
  onRun("negative steps", log("a", 1, 1000, -5), log("a", 2, 1000, -3), getRun, history("a")),
  onRun("numbers as texts", log("a", "0.25", "1000", "7"), history("a")),
  onRun("names", ...["a b", "a:b", "train/loss", "système"].map((key) => log(key, 1)), getRun, history("train/loss")),
  onRun("none of that name", history("nothing")),
  onRun(
    "without what it needs",
    log(undefined, 1),
    log("", 1),
    log("a", undefined),
    log("a", null),
    post("runs/log-metric", { run_id: "<run>", key: "a", value: 1 }),
    get("metrics/get-history", { run_id: "<run>" }),
  ),
  onRun(
    "what is no number",
    log("a", "x"),
    refusedByUs(log("a", true), "MLflow takes it for 1"),
    refusedByUs(log("a", [1]), "MLflow fails"),
    refusedByUs(log("a", {}), "MLflow fails"),
    log("a", 1, "soon"),
    refusedByUs(log("a", 1, 1000, 1.5), "MLflow takes it for step 0"),
    log("a", 1, 1000, "x"),
  ),
  onRun("a time before all", log("a", 1, -1)),
  onRun("names that are none", ...["a*b", "../a", "a//b", "/a", "."].map((key) => log(key, 1))),
];

const batches: readonly MlflowCase[] = [
  onRun(
    "all three",
    batch({
      metrics: [metric("a", 1), metric("a", 2, 1000, 1), metric("b", "NaN")],
      params: [{ key: "p", value: "1" }],
      tags: [{ key: "t", value: "2" }],
    }),
    getRun,
    history("a"),
  ),
  onRun("nothing", batch({}), batch({ metrics: [], params: [], tags: [] }), getRun),
  onRun(
    "twice is once",
    ...many(2, () =>
      batch({
        metrics: [metric("a", 1), metric("a", 1)],
        params: [{ key: "p", value: "1" }],
        tags: [{ key: "t", value: "2" }],
      }),
    ),
    history("a"),
    getRun,
  ),
  onRun(
    "of a tag that comes twice the last",
    batch({
      tags: [
        { key: "t", value: "1" },
        { key: "t", value: "2" },
      ],
    }),
    getRun,
  ),
  onRun("its name", batch({ tags: [{ key: "mlflow.runName", value: "renamed" }] }), getRun),
  onRun(
    "a param that comes twice",
    batch({
      params: [
        { key: "p", value: "1" },
        { key: "p", value: "1" },
      ],
    }),
    getRun,
  ),
  onRun(
    "a param that is another",
    batch({ params: [{ key: "p", value: "1" }] }),
    batch({
      params: [
        { key: "p", value: "2" },
        { key: "q", value: "1" },
      ],
      metrics: [metric("a", 1)],
      tags: [{ key: "t", value: "1" }],
    }),
    getRun,
  ),
  onRun(
    "1,000 metrics, and more",
    batch({ metrics: many(1000, (i) => metric("a", i, 1000, i)) }),
    batch({ metrics: many(1001, (i) => metric("b", i, 1000, i)) }),
    getRun,
  ),
  onRun(
    "100 params, and more",
    batch({ params: many(100, (i) => ({ key: `p${i}`, value: "1" })) }),
    batch({ params: many(101, (i) => ({ key: `q${i}`, value: "1" })) }),
  ),
  onRun(
    "1,000 of all, and more",
    batch({
      metrics: many(900, (i) => metric("a", i, 1000, i)),
      params: many(50, (i) => ({ key: `p${i}`, value: "1" })),
      tags: many(50, (i) => ({ key: `t${i}`, value: "1" })),
    }),
    batch({
      metrics: many(901, (i) => metric("b", i, 1000, i)),
      params: many(50, (i) => ({ key: `p${i}`, value: "1" })),
      tags: many(50, (i) => ({ key: `t${i}`, value: "1" })),
    }),
  ),
  onRun("more than a million bytes", batch({ params: many(100, (i) => ({ key: `p${i}`, value: "é".repeat(6000) })) })),
  onRun(
    "long values are cut",
    batch({ params: [{ key: "p", value: "x".repeat(6001) }], tags: [{ key: "t", value: "y".repeat(8001) }] }),
    getRun,
  ),
  onRun(
    "without what they need",
    batch({ metrics: [{ value: 1, timestamp: 1 }] }),
    batch({ metrics: [{ key: "a", timestamp: 1 }] }),
    batch({ metrics: [{ key: "a", value: 1 }] }),
    batch({ params: [{ value: "1" }] }),
    batch({ tags: [{ value: "1" }] }),
    batch({ metrics: [{ key: "", value: 1, timestamp: 1 }] }),
  ),
  onRun(
    "names that are none, in a batch",
    batch({ metrics: [metric("a*b", 1)] }),
    batch({ params: [{ key: "a//b", value: "1" }] }),
    batch({ tags: [{ key: "/a", value: "1" }] }),
    batch({ params: [{ key: "k".repeat(251), value: "1" }] }),
    batch({ metrics: [metric("k".repeat(251), 1)] }),
    getRun,
  ),
  onRun("no lists", batch({ metrics: {} }), batch({ params: "x" }), batch({ tags: 3 })),
  onRun("without values", batch({ params: [{ key: "p" }], tags: [{ key: "t" }] }), getRun),
];

const hundred = batch({ metrics: many(100, (i) => metric("a", i * 2, 1000 + i, i)) });
const histories: readonly MlflowCase[] = [
  onRun(
    "page by page",
    hundred,
    history("a", { max_results: "2" }),
    history("a", { max_results: "100" }),
    history("a", { max_results: "99" }),
  ),
  onRun("pages of no size", history("a", { max_results: "0" }), history("a", { max_results: "-1" })),
  onRun("a token that is none", history("a", { page_token: "x" })),
  onRun(
    "sampled",
    hundred,
    interval({ max_results: "7" }),
    interval({ max_results: "1" }),
    interval({ max_results: "100" }),
    interval({ max_results: "3", start_step: "10", end_step: "19" }),
    interval({}),
  ),
  onRun(
    "sampled with NaN",
    batch({ metrics: [metric("a", "NaN", 1, 0), metric("a", 1, 1, 0), metric("a", -1, 1, 0), metric("a", 2, 2, 1)] }),
    interval({}),
    interval({ max_results: "2" }),
  ),
  onRun(
    "samples of no size",
    interval({ max_results: "0" }),
    interval({ max_results: "2501" }),
    interval({ max_results: "x" }),
  ),
  onRun(
    "half an interval, and one upside down",
    interval({ start_step: "1" }),
    interval({ end_step: "1" }),
    interval({ start_step: "2", end_step: "1" }),
  ),
  onRun(
    "samples of nowhere",
    get("metrics/get-history-bulk-interval", { run_ids: ["<run>", "nowhere"], metric_key: "a" }),
    get("metrics/get-history-bulk-interval", { metric_key: "a" }),
    get("metrics/get-history-bulk-interval", { run_ids: "<run>" }),
    get("metrics/get-history-bulk-interval", { run_ids: many(101, (i) => `r${i}`), metric_key: "a" }),
  ),
  onRun(
    "of many at once",
    hundred,
    {
      ...get("metrics/get-history-bulk", { run_id: "<run>", metric_key: "a", max_results: "3" }),
      path: "/ajax-api/2.0/mlflow/metrics/get-history-bulk",
    },
    {
      ...get("metrics/get-history-bulk", { run_id: ["<run>", "nowhere"], metric_key: "b" }),
      path: "/ajax-api/2.0/mlflow/metrics/get-history-bulk",
    },
    { ...get("metrics/get-history-bulk", { metric_key: "a" }), path: "/ajax-api/2.0/mlflow/metrics/get-history-bulk" },
    { ...get("metrics/get-history-bulk", { run_id: "<run>" }), path: "/ajax-api/2.0/mlflow/metrics/get-history-bulk" },
  ),
];

export const metricCases: CaseGroup = { group: "metrics", cases: [...points, ...batches, ...histories] };
