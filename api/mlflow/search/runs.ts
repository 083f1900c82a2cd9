import { SearchSyntaxError } from "../../../core/tracking/search/errors";
import type { Attribute, Field } from "../../../core/tracking/search/expression";
import type { QueryLanguage } from "../../../core/tracking/search/query";
import { type FieldResolver, mlflowGrammar, parseMlflowFilter, parseMlflowOrder, refuseDuplicates } from "./grammar";

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

/** The language of MLflow's `runs/search`. */
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
