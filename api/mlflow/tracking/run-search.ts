import { SearchSyntaxError } from "../../../core/tracking/search/errors";
import type { Attribute, Field } from "../../../core/tracking/search/expression";
import type { QueryLanguage, RunSearch, SearchQuery } from "../../../core/tracking/search/query";
import { invalidParameter } from "../errors";
import { integer, list, text } from "../fields";
import { type MlflowOperation, operation, rawOperation } from "../operation";
import { readRequest } from "../request";
import {
  type FieldResolver,
  mlflowGrammar,
  parseMlflowFilter,
  parseMlflowOrder,
  refuseDuplicates,
} from "../search/grammar";
import { viewType } from "./experiments";
import { runMessage, undefinedIfEmpty } from "./messages";
import { checkMaxResults, parseExperimentId } from "./ports";

const entities: Readonly<Record<string, Field["kind"]>> = {
  metric: "metric",
  metrics: "metric",
  parameter: "param",
  parameters: "param",
  param: "param",
  params: "param",
  tag: "tag",
  tags: "tag",
  attribute: "attribute",
  attributes: "attribute",
  attr: "attribute",
  run: "attribute",
  dataset: "dataset",
  datasets: "dataset",
};

const attributes: Readonly<Record<string, Attribute>> = {
  run_id: "run_id",
  run_name: "name",
  "run name": "name",
  "Run name": "name",
  "Run Name": "name",
  user_id: "created_by",
  status: "mlflow_status",
  start_time: "start_time",
  created: "start_time",
  Created: "start_time",
  end_time: "end_time",
  artifact_uri: "artifact_uri",
};
const times: readonly Attribute[] = ["start_time", "end_time"];
const datasetKeys = ["name", "digest", "context"] as const;

const runField: FieldResolver<Field> = (entity, key) => {
  const kind = Object.hasOwn(entities, entity) ? entities[entity] : undefined;
  switch (kind) {
    case "metric":
      return { field: { kind, name: key, aspect: "last", exact: true }, type: "number" };
    case "param":
      return { field: { kind, name: key, exact: true }, type: "text", nullable: true };
    case "tag":
      return { field: { kind, name: key }, type: "text", nullable: true };
    case "attribute": {
      const name = Object.hasOwn(attributes, key) ? attributes[key] : undefined;
      if (name === undefined) return `is not an attribute of a run: use ${Object.keys(attributes).join(", ")}`;
      return { field: { kind, name }, type: times.includes(name) ? "number" : "text", list: name === "run_id" };
    }
    case "dataset": {
      const name = datasetKeys.find((one) => one === key);
      if (name === undefined) return `must be one of dataset.${datasetKeys.join(", dataset.")}`;
      return { field: { kind, name }, type: "text", list: true };
    }
    default:
      return "must begin with metrics., params., tags., attributes. or dataset.";
  }
};

const grammar = mlflowGrammar(runField, ({ field }) => field.kind !== "dataset");

export const mlflowRuns: QueryLanguage = {
  name: "mlflow",
  ordersNumbersInText: false,
  parseFilter(filter) {
    if (filter !== "" && filter.trim() === "") {
      throw new SearchSyntaxError("filter", { position: 1, token: filter, rule: "is blank: leave it out" });
    }
    return parseMlflowFilter(grammar, filter);
  },
  parseOrder(orderBy) {
    const terms = parseMlflowOrder(grammar, orderBy);
    refuseDuplicates(terms.map(({ field }) => `${field.kind}.${field.name}`));
    return terms;
  },
};

const views = { ACTIVE_ONLY: "active", DELETED_ONLY: "deleted", ALL: "all" } as const;
const maxResults = 50_000;
const maxSummaries = 1_000;
const maxExperiments = 20;
/** AWS Lambda returns at most 6 MB, and the gateway's envelope escapes every quote. */
const maxAnswerBytes = 4_500_000;

export const runSearchOperations: readonly MlflowOperation[] = [
  rawOperation("POST /mlflow/runs/search", async (context) => {
    const fields = await readRequest(context, {
      experiment_ids: list(text),
      filter: text,
      run_view_type: viewType,
      max_results: integer,
      order_by: list(text),
      page_token: text,
    });
    const limit = fields.max_results ?? 1000;
    checkMaxResults(limit);
    const experimentIds = fields.experiment_ids.map(parseExperimentId);
    const query: SearchQuery = {
      // Without experiments MLflow finds no run, but the native search would read all.
      experimentIds: experimentIds.length > 0 ? experimentIds : ["-1"],
      filter: fields.filter ?? "",
      language: mlflowRuns,
      orderBy: fields.order_by,
      limit,
      pageToken: fields.page_token || undefined,
      view: views[fields.run_view_type ?? "ACTIVE_ONLY"],
    };
    const { runs, nextToken } = await fittingPage(context.get("platform").runSearch, query);
    const members = [
      ...(runs.length > 0 ? [`"runs":[${runs.join(",")}]`] : []),
      ...(nextToken === undefined ? [] : [`"next_page_token":${JSON.stringify(nextToken)}`]),
    ];
    return context.body(`{${members.join(",")}}`, 200, { "content-type": "application/json" });
  }),

  operation(
    "POST /mlflow/experiments/search-datasets",
    { experiment_ids: list(text) },
    async ({ fields, platform }) => {
      const { experiment_ids: ids } = fields;
      if (ids.length === 0) throw invalidParameter("SearchDatasets request must specify at least one experiment_id.");
      if (ids.length > maxExperiments) {
        throw invalidParameter(
          `SearchDatasets request cannot specify more than ${maxExperiments} experiment_ids. Received ${ids.length} experiment_ids.`,
        );
      }
      const { runs } = await platform.runSearch.search({
        experimentIds: ids.map(parseExperimentId),
        filter: "",
        language: mlflowRuns,
        orderBy: [],
        limit: maxResults,
        view: "all",
      });
      const summaries = new Map<string, object>();
      for (const { record } of runs) {
        for (const { name, digest, tags } of record.datasets) {
          const context = tags["mlflow.data.context"];
          const summary = { experiment_id: record.experimentId, name, digest, context };
          summaries.set(JSON.stringify(summary), summary);
        }
      }
      return { dataset_summaries: undefinedIfEmpty([...summaries.values()].slice(0, maxSummaries)) };
    },
  ),
];

/** Serialises as many runs as fit in a response; the others are on the next page. */
async function fittingPage(
  search: RunSearch,
  query: SearchQuery,
): Promise<{ readonly runs: readonly string[]; readonly nextToken?: string }> {
  const page = await search.search(query);
  const runs: string[] = [];
  let bytes = 0;
  for (const { record, metrics } of page.runs) {
    const run = JSON.stringify(runMessage(record, metrics));
    bytes += Buffer.byteLength(run) + 1;
    if (bytes > maxAnswerBytes && runs.length > 0) return fittingPage(search, { ...query, limit: runs.length });
    runs.push(run);
  }
  return { runs, nextToken: page.nextToken };
}
