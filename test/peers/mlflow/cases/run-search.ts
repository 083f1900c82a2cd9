import type { CaseGroup, MlflowCase, Step } from "../case";
import { caseOf, experiment, onExperiment, onRun, post } from "./steps";

/** Three runs, of which the third has no loss. */
const runs: readonly Step[] = [
  { start: 1000, lr: "0.1", loss: 0.5, tag: "a" },
  { start: 2000, lr: "0.01", loss: 0.25, tag: "B" },
  { start: 3000, lr: "0.001", loss: undefined, tag: undefined },
].flatMap(({ start, lr, loss, tag }, i) => [
  post(
    "runs/create",
    {
      experiment_id: "<experiment>",
      start_time: start,
      run_name: `run-${i}`,
      user_id: "ada",
      tags: tag ? [{ key: "letter", value: tag }] : [],
    },
    { save: { [`run${i}`]: "run.info.run_id" } },
  ),
  post("runs/log-batch", {
    run_id: `<run${i}>`,
    params: [{ key: "lr", value: lr }],
    metrics: loss === undefined ? [] : [{ key: "val/loss", value: loss, timestamp: 5, step: 1 }],
  }),
]);

const search = (body: object): Step => post("runs/search", { experiment_ids: ["<experiment>"], ...body });
const filter = (text: string): Step => search({ filter: text, order_by: ["attributes.start_time ASC"] });
/** MLflow's server has it for its web pages alone. */
const searchData = (body: object): Step => ({
  ...post("", body),
  path: "/ajax-api/2.0/mlflow/experiments/search-datasets",
});
const among = (name: string, ...steps: readonly Step[]): MlflowCase => caseOf(name, experiment, ...runs, ...steps);

const found: readonly MlflowCase[] = [
  among("all, the newest first", search({})),
  among(
    "by metric",
    filter('metrics."val/loss" < 0.3'),
    filter("metrics.`val/loss` >= 0.25"),
    filter("metrics.nothing = 1"),
    filter('metrics."val/loss" != 0.5'),
  ),
  among(
    "by param",
    filter("params.lr = '0.1'"),
    filter("param.lr LIKE '0.0%'"),
    filter("parameters.lr != '0.1'"),
    filter("params.lr ILIKE '0.1'"),
  ),
  among(
    "by tag",
    filter("tags.letter = 'a'"),
    filter("tag.letter ILIKE 'b'"),
    filter("tags.letter != 'a'"),
    filter("tags.mlflow.runName = 'run-1'"),
    filter("tags.\"letter\" LIKE '%'"),
  ),
  among(
    "by attribute",
    filter("attributes.run_name = 'run-2'"),
    filter("run_name LIKE 'run-%'"),
    filter("status = 'RUNNING'"),
    filter("attributes.status != 'RUNNING'"),
    filter("start_time > 1500"),
    filter("attribute.start_time <= 2000"),
    filter("user_id = 'ada'"),
    filter("run_id = '<run1>'"),
    filter("run_id IN ('<run0>', '<run2>')"),
    filter("run_id NOT IN ('<run0>')"),
  ),
  among("by all together", filter("params.lr LIKE '0.0%' AND metrics.`val/loss` < 1 and start_time > 0")),
  ...["ASC", "DESC", ""].map((way) =>
    among(`in the order of a metric ${way}`, search({ order_by: [`metrics."val/loss" ${way}`] })),
  ),
  among(
    "in the order of a param, a tag, attributes",
    search({ order_by: ["params.lr ASC"] }),
    search({ order_by: ["tags.letter DESC"] }),
    search({ order_by: ["attributes.start_time ASC"] }),
    search({ order_by: ["run_name DESC"] }),
    search({ order_by: ["status ASC", "start_time ASC"] }),
  ),
  among(
    "a page",
    search({ max_results: 2, order_by: ["start_time ASC"] }),
    search({ max_results: 3 }),
    search({ max_results: "1" }),
  ),
  among(
    "deleted ones",
    post("runs/delete", { run_id: "<run1>" }),
    search({}),
    search({ run_view_type: "DELETED_ONLY" }),
    search({ run_view_type: "ALL" }),
    search({ run_view_type: 2 }),
  ),
  among(
    "in no experiment, in one of nowhere",
    post("runs/search", {}),
    post("runs/search", { experiment_ids: [] }),
    post("runs/search", { experiment_ids: ["987654321"] }),
  ),
  onExperiment("nothing found", search({})),
  onRun(
    "by data",
    post("runs/log-inputs", {
      run_id: "<run>",
      datasets: [
        {
          tags: [{ key: "mlflow.data.context", value: "training" }],
          dataset: { name: "digits", digest: "d1", source_type: "local", source: "x" },
        },
      ],
    }),
    search({ filter: "dataset.name = 'digits'" }),
    search({ filter: "datasets.digest IN ('d1', 'd2')" }),
    search({ filter: "dataset.context = 'test'" }),
    searchData({ experiment_ids: ["<experiment>"] }),
  ),
];

const refused: readonly MlflowCase[] = [
  ...[
    "metrics.a >",
    "metrics.a = '1'",
    "metrics.a LIKE '1'",
    "params.a > '1'",
    "params.a = 1",
    "tags.a = b",
    "nothing.a = 'b'",
    "attributes.nothing = 'b'",
    "status > 'RUNNING'",
    "start_time = 'now'",
    "params.a = '1' OR params.b = '2'",
    "(params.a = '1')",
    "params.a = '1",
    "dataset.color = 'red'",
    "run_name IN ('a')",
  ].map((text) => onExperiment(`a filter that is none: ${text}`, search({ filter: text }))),
  ...["nothing.a", "metrics.a UP", "attributes.nothing"].map((text) =>
    onExperiment(`an order that is none: ${text}`, search({ order_by: [text] })),
  ),
  onExperiment(
    "sizes that are none",
    search({ max_results: 0 }),
    search({ max_results: -1 }),
    search({ max_results: 50_001 }),
    search({ max_results: "x" }),
  ),
  onExperiment(
    "lists that are none",
    search({ order_by: "start_time" }),
    search({ experiment_ids: "<experiment>" }),
    search({ filter: 7 }),
  ),
  onExperiment("a token that is none", search({ page_token: "x" })),
  caseOf("experiments that are none", post("runs/search", { experiment_ids: ["abc"] })),
  caseOf(
    "data of no experiment, of too many",
    searchData({}),
    searchData({ experiment_ids: Array.from({ length: 21 }, (_, i) => String(i)) }),
  ),
];

export const runSearchCases: CaseGroup = { group: "run-search", cases: [...found, ...refused] };
