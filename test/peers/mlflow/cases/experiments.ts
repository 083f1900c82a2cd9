import type { CaseGroup, MlflowCase, Step } from "../case";
import { caseOf, experiment, get, onExperiment, onRun, post } from "./steps";

const unnumbered: Partial<Step> = {
  compare: { ignore: ["experiment_id", "experiment.experiment_id", "experiment.artifact_location"] },
};
const getExperiment = get("experiments/get", { experiment_id: "<experiment>" });
const tag = (key: unknown, value?: unknown): Step =>
  post("experiments/set-experiment-tag", { experiment_id: "<experiment>", key, value });
const untag = (key: string): Step => post("experiments/delete-experiment-tag", { experiment_id: "<experiment>", key });
const remove = post("experiments/delete", { experiment_id: "<experiment>" });
const restore = post("experiments/restore", { experiment_id: "<experiment>" });
/** Its number follows from no request. */
const named = (name: string, more: object = {}): Step => post("experiments/create", { name, ...more }, unnumbered);

const lifecycle: readonly MlflowCase[] = [
  caseOf(
    "create, get, get by name",
    experiment,
    getExperiment,
    get("experiments/get-by-name", { experiment_name: "<nonce>" }),
  ),
  caseOf("a name is taken once", experiment, named("<nonce>")),
  caseOf(
    "with tags and a place",
    post(
      "experiments/create",
      {
        name: "<nonce>",
        artifact_location: "s3://bucket/<nonce>",
        tags: [
          { key: "a", value: "1" },
          { key: "b.c/d", value: "" },
        ],
      },
      { save: { experiment: "experiment_id" } },
    ),
    getExperiment,
  ),
  caseOf(
    "a name with anything in it",
    named("<nonce> /weird: näme? #1%"),
    get("experiments/get-by-name", { experiment_name: "<nonce> /weird: näme? #1%" }, unnumbered),
  ),
  onExperiment(
    "rename",
    post("experiments/update", { experiment_id: "<experiment>", new_name: "<nonce>-2" }),
    getExperiment,
    get("experiments/get-by-name", { experiment_name: "<nonce>" }),
    named("<nonce>"),
  ),
  onExperiment(
    "rename to what it is called",
    post("experiments/update", { experiment_id: "<experiment>", new_name: "<nonce>" }),
  ),
  onExperiment(
    "rename to nothing",
    post("experiments/update", { experiment_id: "<experiment>", new_name: "" }),
    post("experiments/update", { experiment_id: "<experiment>" }),
  ),
  onExperiment(
    "delete, and what is left",
    remove,
    getExperiment,
    get("experiments/get-by-name", { experiment_name: "<nonce>" }),
    remove,
  ),
  onExperiment("a deleted name is taken", remove, named("<nonce>")),
  onExperiment("restore", remove, restore, getExperiment, restore),
  onExperiment(
    "a deleted one changes nothing",
    remove,
    tag("a", "1"),
    untag("a"),
    post("experiments/update", { experiment_id: "<experiment>", new_name: "<nonce>-2" }),
    post("runs/create", { experiment_id: "<experiment>", start_time: 1 }),
  ),
  onRun(
    "runs go and come with it",
    remove,
    get("runs/get", { run_id: "<run>" }),
    post("runs/log-metric", { run_id: "<run>", key: "a", value: 1, timestamp: 1 }),
    restore,
    get("runs/get", { run_id: "<run>" }),
  ),
];

const tags: readonly MlflowCase[] = [
  onExperiment(
    "tags are set, set again, deleted",
    tag("a", "1"),
    tag("a", "2"),
    tag("b", ""),
    tag("c"),
    getExperiment,
    untag("a"),
    getExperiment,
    untag("a"),
  ),
  onExperiment("a tag of 20,000 characters, and of more", tag("a", "x".repeat(20_000)), tag("a", "x".repeat(20_001))),
  onExperiment("a key of 250 characters, and of more", tag("k".repeat(250), "1"), tag("k".repeat(251), "1")),
  ...["a\u0000b", "a*b", "../a"].map((key, i) => onExperiment(`a key that is no name, ${i + 1}`, tag(key, "1"))),
  ...["a b", "a:b"].map((key, i) => onExperiment(`a key that is one, ${i + 1}`, tag(key, "1"), getExperiment)),
  onExperiment("without a key", tag(undefined, "1"), tag("", "1"), tag(null, "1")),
];

const refusals: readonly MlflowCase[] = [
  caseOf("without a name", post("experiments/create", {}), named(""), post("experiments/create", { name: null })),
  caseOf("a name that is none", post("experiments/create", { name: 7 }), post("experiments/create", { name: ["a"] })),
  caseOf("a name of 500 characters, and of more", named(`<nonce>${"x".repeat(480)}`), named("x".repeat(501))),
  caseOf(
    "places that are none",
    named("<nonce>-1", { artifact_location: "s3://b/a#f" }),
    named("<nonce>-2", { artifact_location: "runs:/x" }),
    named("<nonce>-3", { artifact_location: `s3://${"b".repeat(2100)}` }),
  ),
  caseOf(
    "tags that are none",
    named("<nonce>-1", { tags: { a: 1 } }),
    named("<nonce>-2", { tags: [{ key: "a*b", value: "1" }] }),
  ),
  caseOf(
    "of nowhere",
    get("experiments/get", { experiment_id: "987654321" }),
    get("experiments/get-by-name", { experiment_name: "<nonce>" }),
    ...["delete", "restore"].map((verb) => post(`experiments/${verb}`, { experiment_id: "987654321" })),
    post("experiments/update", { experiment_id: "987654321", new_name: "<nonce>" }),
    post("experiments/set-experiment-tag", { experiment_id: "987654321", key: "a", value: "1" }),
  ),
  caseOf(
    "ids that are none",
    get("experiments/get", { experiment_id: "abc" }),
    post("experiments/delete", { experiment_id: "1.5" }),
  ),
  caseOf("ids as numbers", post("experiments/delete", { experiment_id: 987654321 })),
  caseOf(
    "without an id",
    get("experiments/get", {}),
    get("experiments/get-by-name", {}),
    post("experiments/delete", {}),
    post("experiments/restore", {}),
    post("experiments/update", { new_name: "x" }),
    post("experiments/set-experiment-tag", { key: "a" }),
  ),
  caseOf("members that nobody knows", named("<nonce>", { color: "red", tags: [{ key: "a", value: "1", x: 2 }] })),
  caseOf(
    "without a content type",
    { method: "POST", path: "mlflow/experiments/create", raw: '{"name":"x"}' },
    {
      method: "POST",
      path: "mlflow/experiments/create",
      raw: '{"name":"x"}',
      headers: { "content-type": "text/plain" },
    },
  ),
  caseOf("JSON within JSON", {
    method: "POST",
    path: "mlflow/experiments/create",
    raw: JSON.stringify(JSON.stringify({ name: "<nonce>" })),
    headers: { "content-type": "application/json; charset=utf-8" },
    ...unnumbered,
  }),
  caseOf("no JSON", {
    method: "POST",
    path: "mlflow/experiments/create",
    raw: "{",
    headers: { "content-type": "application/json" },
  }),
  caseOf("by the path of the web pages", experiment, {
    ...getExperiment,
    path: "/ajax-api/2.0/mlflow/experiments/get",
  }),
];

const search = (body: object): Step => post("experiments/search", { max_results: 10, ...body });
const mine = "name LIKE '<nonce>%'";
const three: readonly Step[] = [
  ...["a", "b", "C"].map((letter, i) =>
    named(`<nonce>-${letter}`, {
      tags: [{ key: "n", value: String(i) }, ...(i === 0 ? [{ key: "first", value: "Yes" }] : [])],
    }),
  ),
];
const byName = (filter: string, more: object = {}): Step =>
  search({ filter: `${mine} AND ${filter}`, order_by: ["name ASC"], ...more });
const found = (name: string, ...steps: readonly Step[]): MlflowCase =>
  caseOf(
    name,
    ...three,
    ...steps.map((step) => ({
      ...step,
      compare: { ...step.compare, ignore: ["experiments.*.experiment_id", "experiments.*.artifact_location"] },
    })),
  );

const searches: readonly MlflowCase[] = [
  found(
    "by name",
    search({ filter: "name = '<nonce>-a'" }),
    search({ filter: "name != '<nonce>-a' AND name LIKE '<nonce>%'", order_by: ["name"] }),
    search({ filter: mine, order_by: ["name DESC"] }),
  ),
  found(
    "LIKE knows cases, ILIKE does not",
    search({ filter: "name LIKE '<nonce>-c'" }),
    search({ filter: "name ILIKE '<nonce>-c'" }),
    search({ filter: "name LIKE '<nonce>-_'", order_by: ["name"] }),
  ),
  found(
    "by tag",
    byName("tags.n = '1'"),
    byName("tag.n != '1'"),
    byName("tags.first ILIKE 'yes'"),
    byName("tags.`first` LIKE 'Y%'"),
    byName("tags.first IS NULL"),
    byName("tags.first IS NOT NULL"),
  ),
  found("by time", byName("creation_time > 0"), byName("last_update_time < 10")),
  found(
    "in the order of creation",
    search({ filter: mine, order_by: ["experiment_id ASC"] }),
    search({ filter: mine, order_by: ["experiment_id DESC"] }),
  ),
  found(
    "page by page",
    search({ filter: mine, order_by: ["name"], max_results: 2 }),
    search({ filter: mine, order_by: ["name"], max_results: 2, page_token: "eyJvZmZzZXQiOiAyfQ==" }),
  ),
  caseOf(
    "deleted ones",
    experiment,
    remove,
    ...[1, 2, 3, "DELETED_ONLY"].map((view_type) => search({ filter: "name = '<nonce>'", view_type })),
    search({ filter: "name = '<nonce>'" }),
  ),
  caseOf(
    "by GET",
    experiment,
    get("experiments/search", {
      filter: "name = '<nonce>'",
      max_results: "5",
      view_type: "ALL",
      order_by: ["name ASC", "experiment_id DESC"],
    }),
  ),
  caseOf("nothing found", search({ filter: "name = '<nonce>'" })),
  caseOf(
    "limits",
    post("experiments/search", {}),
    search({ max_results: 0 }),
    search({ max_results: -1 }),
    search({ max_results: 50_001 }),
    search({ max_results: "x" }),
    search({ max_results: "7", filter: "name = '<nonce>'" }),
  ),
  ...[
    "name > 'a'",
    "name = a",
    "name",
    "nothing = 'a'",
    "params.a = '1'",
    "tags.a > '1'",
    "tags.a = 1",
    "creation_time LIKE '1'",
    "creation_time = 'a'",
    "name = 'a' OR name = 'b'",
    "(name = 'a')",
    "name IS NULL",
    "name = 'a' name = 'b'",
    "tags.a IN ('1')",
    "name = 'a",
    "experiment_id > '1'",
    "experiment_id = 'x'",
    "experiment_id IN ('1', '0x')",
  ].map((filter) => caseOf(`a filter that is none: ${filter}`, search({ filter }))),
  caseOf("a token that is none", search({ page_token: "x" })),
  caseOf(
    "orders that are none",
    search({ order_by: ["nothing"] }),
    search({ order_by: ["tags.a"] }),
    search({ order_by: ["name UP"] }),
    search({ order_by: "name" }),
  ),
];

export const experimentCases: CaseGroup = {
  group: "experiments",
  cases: [...lifecycle, ...tags, ...refusals, ...searches],
};
