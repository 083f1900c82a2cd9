import type { CaseGroup, MlflowCase, Step } from "../case";
import { caseOf, read, send } from "./steps";

const models = "mlflow/registered-models";
const create = (more: object = {}): Step => send("POST", `${models}/create`, { name: "<nonce>", ...more });
const get = (name = "<nonce>"): Step => read(`${models}/get`, { name });
const update = (body: object): Step => ({ method: "PATCH", path: `${models}/update`, body });
const remove = (body: object): Step => ({ method: "DELETE", path: `${models}/delete`, body });
const setTag = (body: object): Step => ({ method: "POST", path: `${models}/set-tag`, body });
const deleteTag = (body: object): Step => ({ method: "DELETE", path: `${models}/delete-tag`, body });
const search = (query: Step["query"], more: Partial<Step> = {}): Step => ({
  method: "GET",
  path: `${models}/search`,
  query,
  ...more,
});
const version = (more: object): Step => send("POST", "mlflow/model-versions/create", { name: "<nonce>", ...more });
const ofVersion = (what: string, query: Step["query"]): Step => ({
  method: "GET",
  path: `mlflow/model-versions/${what}`,
  query,
});
const rename = (name: string, to: string): Step => send("POST", `${models}/rename`, { name, new_name: to });
const long = (length: number): string => "x".repeat(length);

const making: readonly MlflowCase[] = [
  caseOf("create, get, again", create(), get(), create()),
  caseOf(
    "with a description and tags",
    create({
      description: "what it is",
      tags: [
        { key: "b", value: "1" },
        { key: "a", value: "2" },
        { key: "b", value: "3" },
      ],
    }),
    get(),
  ),
  caseOf("with an empty description", create({ description: "" }), get()),
  caseOf("with tags without values", create({ tags: [{ key: "a" }, { key: "b", value: "" }] }), get()),
  ...[
    ["no name", {}],
    ["an empty name", { name: "" }],
    ["a name of blanks", { name: "  " }],
    ["null for a name", { name: null }],
    ["a number for a name", { name: 5 }],
    ["a list for a name", { name: ["a"] }],
    ["a slash in the name", { name: "a/b" }],
    ["a colon in the name", { name: "a:b" }],
    ["a dot for a name", { name: "." }],
    ["two dots for a name", { name: ".." }],
    ["a text for tags", { name: "<nonce>", tags: "a" }],
    ["an object for tags", { name: "<nonce>", tags: { a: "b" } }],
    ["a tag without a key", { name: "<nonce>", tags: [{ value: "1" }] }],
    ["a tag of an odd key", { name: "<nonce>", tags: [{ key: "a#b", value: "1" }] }],
    ["a tag whose key climbs", { name: "<nonce>", tags: [{ key: "../a", value: "1" }] }],
    ["a tag of too long a key", { name: "<nonce>", tags: [{ key: long(251), value: "1" }] }],
    ["a tag of too long a value", { name: "<nonce>", tags: [{ key: "a", value: long(100_001) }] }],
    ["a number for a description", { name: "<nonce>", description: 5 }],
    ["members that nobody knows", { name: "<nonce>", colour: "red" }],
  ].map(
    ([name, body]): MlflowCase =>
      caseOf(`create with ${name as string}`, send("POST", `${models}/create`, body as object)),
  ),
  caseOf(
    "names of every kind",
    ...["<nonce> with blanks", "<nonce>é日本", "<nonce>'\"`", "<nonce>%20&=?", "<nonce>.v1-a_b@c"].flatMap(
      (name): Step[] => [send("POST", `${models}/create`, { name }), get(name), remove({ name })],
    ),
  ),
  caseOf("a body that is no JSON", {
    method: "POST",
    path: `${models}/create`,
    raw: "{",
    headers: { "content-type": "application/json" },
  }),
  caseOf("a body of another type", {
    method: "POST",
    path: `${models}/create`,
    raw: "name=a",
    headers: { "content-type": "text/plain" },
  }),
  caseOf("get what is not there", get("<nonce>-no"), get(""), { method: "GET", path: `${models}/get` }, get("a/b")),
];

const changing: readonly MlflowCase[] = [
  caseOf(
    "a description is changed and taken away",
    create(),
    update({ name: "<nonce>", description: "one" }),
    get(),
    update({ name: "<nonce>", description: "" }),
    get(),
    update({ name: "<nonce>", description: "two" }),
    update({ name: "<nonce>" }),
    get(),
    update({ name: "<nonce>-no", description: "x" }),
    update({ description: "x" }),
  ),
  caseOf(
    "tags are set and taken away",
    create(),
    setTag({ name: "<nonce>", key: "a", value: "1" }),
    setTag({ name: "<nonce>", key: "a", value: "2" }),
    setTag({ name: "<nonce>", key: "b.c/d e:f-g_h", value: "" }),
    setTag({ name: "<nonce>", key: "é", value: "日本" }),
    get(),
    deleteTag({ name: "<nonce>", key: "a" }),
    deleteTag({ name: "<nonce>", key: "a" }),
    get(),
  ),
  caseOf(
    "tags that are wrong",
    create(),
    setTag({ name: "<nonce>", key: "", value: "1" }),
    setTag({ name: "<nonce>", value: "1" }),
    setTag({ key: "a", value: "1" }),
    setTag({ name: "<nonce>", key: "a,b", value: "1" }),
    setTag({ name: "<nonce>", key: "/a", value: "1" }),
    setTag({ name: "<nonce>", key: long(251), value: "1" }),
    setTag({ name: "<nonce>", key: long(250), value: "1" }),
    setTag({ name: "<nonce>", key: "a", value: long(100_001) }),
    setTag({ name: "<nonce>-no", key: "a", value: "1" }),
    deleteTag({ name: "<nonce>-no", key: "a" }),
    deleteTag({ name: "<nonce>" }),
  ),
  caseOf("a long tag", create(), setTag({ name: "<nonce>", key: "a", value: long(50_000) }), get()),
  caseOf(
    "deleted, it is gone, and its name free",
    create({ description: "one", tags: [{ key: "a", value: "1" }] }),
    remove({ name: "<nonce>" }),
    get(),
    remove({ name: "<nonce>" }),
    setTag({ name: "<nonce>", key: "a", value: "1" }),
    search({ filter: "name = '<nonce>'" }),
    create(),
    get(),
  ),
  caseOf("delete without a name", remove({}), remove({ name: "" }), remove({ name: "a/b" })),
  caseOf(
    "renamed while nothing knows it",
    create({ description: "one", tags: [{ key: "a", value: "1" }] }),
    send("POST", `${models}/rename`, { name: "<nonce>", new_name: "<nonce>-new" }),
    read(`${models}/get`, { name: "<nonce>" }),
    read(`${models}/get`, { name: "<nonce>-new" }),
    create({ name: "<nonce>-other" }),
    send("POST", `${models}/rename`, { name: "<nonce>-new", new_name: "<nonce>-other" }),
    send("POST", `${models}/rename`, { name: "<nonce>-new", new_name: "<nonce>-new" }),
    send("POST", `${models}/rename`, { name: "<nonce>-no", new_name: "<nonce>-x" }),
    send("POST", `${models}/rename`, { name: "<nonce>-new", new_name: "" }),
    send("POST", `${models}/rename`, { name: "<nonce>-new" }),
    send("POST", `${models}/rename`, { name: "<nonce>-new", new_name: "a/b" }),
  ),
  caseOf(
    "renamed with its versions",
    create({ description: "one", tags: [{ key: "a", value: "1" }] }),
    version({ source: "s3://bucket/1", description: "first", tags: [{ key: "b", value: "2" }] }),
    version({ source: "s3://bucket/2" }),
    version({ source: "s3://bucket/3" }),
    send("DELETE", "mlflow/model-versions/delete", { name: "<nonce>", version: "3" }),
    send("POST", "mlflow/model-versions/transition-stage", { name: "<nonce>", version: "1", stage: "Staging" }),
    send("POST", `${models}/alias`, { name: "<nonce>", alias: "best", version: "2" }),
    create({ name: "<nonce>-copy" }),
    send("POST", "mlflow/model-versions/create", { name: "<nonce>-copy", source: "models:/<nonce>/2" }),
    rename("<nonce>", "<nonce>-new"),
    get(),
    get("<nonce>-new"),
    ofVersion("get", { name: "<nonce>-new", version: "1" }),
    ofVersion("get", { name: "<nonce>-new", version: "3" }),
    ofVersion("get", { name: "<nonce>", version: "1" }),
    ofVersion("get-download-uri", { name: "<nonce>-new", version: "1" }),
    ofVersion("get-download-uri", { name: "<nonce>-copy", version: "1" }),
    ofVersion("search", { filter: "name = '<nonce>'" }),
    ofVersion("search", { filter: "name = '<nonce>-new'", order_by: "version_number DESC" }),
    read(`${models}/alias`, { name: "<nonce>-new", alias: "best" }),
    version({ name: "<nonce>-new", source: "s3://bucket/4" }),
    version({ source: "s3://bucket/5" }),
    rename("<nonce>", "<nonce>-newer"),
    rename("<nonce>-new", "<nonce>-copy"),
    rename("<nonce>-new", "<nonce>-x"),
    version({ name: "<nonce>-x", source: "s3://bucket/6" }),
    rename("<nonce>-new", "<nonce>-y"),
    search({ filter: "name LIKE '<nonce>%'" }, { compare: { unordered: ["registered_models.*.latest_versions"] } }),
  ),
  caseOf(
    "a copy outlives what it was made of",
    create(),
    version({ source: "s3://bucket/1" }),
    create({ name: "<nonce>-copy" }),
    version({ name: "<nonce>-copy", source: "models:/<nonce>/1" }),
    send("DELETE", "mlflow/model-versions/delete", { name: "<nonce>", version: "1" }),
    ofVersion("get-download-uri", { name: "<nonce>-copy", version: "1" }),
    remove({ name: "<nonce>" }),
    ofVersion("get-download-uri", { name: "<nonce>-copy", version: "1" }),
  ),
];

const made = (names: readonly string[]): readonly Step[] =>
  names.map((suffix) => create({ name: `<nonce>${suffix}`, tags: [{ key: "kind", value: suffix }] }));
const mine = "name LIKE '<nonce>%'";

const searching: readonly MlflowCase[] = [
  caseOf(
    "by name",
    ...made(["-a", "-b", "-B"]),
    ...[
      "name = '<nonce>-a'",
      'name = "<nonce>-a"',
      "name='<nonce>-a'",
      "name != '<nonce>-a' AND name LIKE '<nonce>%'",
      "name LIKE '<nonce>-b'",
      "name ILIKE '<nonce>-b'",
      "name LIKE '%<nonce>%'",
      "name LIKE '<nonce>__'",
      "name IN ('<nonce>-a', '<nonce>-B')",
      "name NOT IN ('<nonce>-a') AND name LIKE '<nonce>%'",
      "attribute.name = '<nonce>-a'",
    ].map((filter) => search({ filter, order_by: "name" })),
  ),
  caseOf(
    "by tags",
    ...made(["-a", "-b"]),
    create({ name: "<nonce>-none" }),
    setTag({ name: "<nonce>-a", key: "a b", value: "x" }),
    ...[
      "tags.kind = '-a'",
      "tags.kind != '-a'",
      "tag.kind LIKE '-%'",
      "tags.kind ILIKE '-A'",
      "tags.`a b` = 'x'",
      "tags.\"a b\" = 'x'",
      "tags.kind = '-a' AND tags.`a b` = 'x'",
      "tags.no = 'x'",
    ].map((filter) => search({ filter: `${filter} AND ${mine}` })),
  ),
  caseOf(
    "by order",
    ...made(["-b", "-a", "-c"]),
    setTag({ name: "<nonce>-a", key: "x", value: "1" }),
    update({ name: "<nonce>-b", description: "x" }),
    search({ filter: mine }),
    search({ filter: mine, order_by: "name DESC" }),
    search({ filter: mine, order_by: "name asc" }),
    search({ filter: mine, order_by: ["name DESC"] }),
  ),
  caseOf(
    "by pages",
    ...made(["-a", "-b", "-c", "-d", "-e"]),
    search({ filter: mine, max_results: "2" }, { save: { token: "next_page_token" } }),
    search({ filter: mine, max_results: "2", page_token: "<token>" }, { save: { token2: "next_page_token" } }),
    search({ filter: mine, max_results: "2", page_token: "<token2>" }),
    search({ filter: mine, max_results: "5" }),
    search({ filter: mine, max_results: "2", page_token: "nonsense" }),
    search({ filter: mine, page_token: "" }),
  ),
  caseOf(
    "filters that are none",
    ...[
      "name",
      "name =",
      "name = a",
      "name = 5",
      "name > 'a'",
      "colour = 'a'",
      "metrics.a = 'a'",
      "name = 'a' OR name = 'b'",
      "name = 'a' AND",
      "(name = 'a')",
      "name = 'a",
      "tags.a = 5",
      "tags.a > '5'",
      "tags.a IN ('a')",
      "name IN ()",
      "name IN ('a', 5)",
      "name IN 'a'",
      "name LIKE 5",
      "= 'a'",
      "description = 'a'",
    ].map((filter) => search({ filter })),
  ),
  caseOf(
    "orders and limits that are none",
    ...["colour", "name UP", "name DESC ASC", "creation_timestamp", "tags.a"].map((order_by) => search({ order_by })),
    ...["1001", "x", "1.5"].map((max_results) => search({ max_results })),
    ...["0", "-1"].map((max_results) =>
      search(
        { max_results },
        {
          ours: {
            why: "MLflow answers no models and a token of the same page",
            status: 400,
            body: "INVALID_PARAMETER_VALUE",
          },
        },
      ),
    ),
    search(
      { order_by: ["name", "name"] },
      {
        ours: {
          why: "MLflow answers 500",
          status: 400,
          body: "INVALID_PARAMETER_VALUE",
        },
      },
    ),
  ),
  caseOf("nothing is found", search({ filter: "name = '<nonce>-no'" })),
  caseOf(
    "prompts are apart",
    create({ name: "<nonce>-model" }),
    create({ name: "<nonce>-prompt", tags: [{ key: "mlflow.prompt.is_prompt", value: "true" }] }),
    search({ filter: mine }),
    search({ filter: `${mine} AND tags.\`mlflow.prompt.is_prompt\` = 'true'` }),
    search({ filter: `${mine} AND tags.\`mlflow.prompt.is_prompt\` = 'false'` }),
    search({ filter: `${mine} AND tags.\`mlflow.prompt.is_prompt\` != 'true'` }),
  ),
];

export const registeredModelCases: CaseGroup = {
  group: "registered-models",
  cases: [...making, ...changing, ...searching],
};
