import type { LoggedModel, LoggedModelMetric } from "../../../core/tracking/logged-model";
import { SearchSyntaxError } from "../../../core/tracking/search/errors";
import { compileFilter, type Reader } from "../../../core/tracking/search/evaluate";
import { fieldsOf } from "../../../core/tracking/search/expression";
import { mlflowGrammar, orderOf, parseMlflowFilter } from "./grammar";

/** Restricts the metrics that count to those on a dataset. */
export interface DatasetFilter {
  readonly datasetName: string;
  readonly datasetDigest?: string;
}

export interface LoggedModelOrder {
  readonly fieldName: string;
  readonly ascending?: boolean;
  readonly datasetName?: string;
  readonly datasetDigest?: string;
}

type Attribute = (model: LoggedModel) => string | number | undefined;

/** MLflow keeps a number, which does not equal the name of a status. */
const statusNumbers = { unspecified: 0, pending: 1, ready: 2, failed: 3 } as const;

const attributes: Readonly<Record<string, Attribute>> = {
  model_id: (model) => model.modelId,
  name: (model) => model.name,
  experiment_id: (model) => model.experimentId,
  model_type: (model) => model.modelType,
  source_run_id: (model) => model.sourceRunId,
  artifact_location: (model) => model.artifactLocation,
  status: (model) => statusNumbers[model.status],
  creation_timestamp_ms: (model) => model.createdAt,
  last_updated_timestamp_ms: (model) => model.updatedAt,
};
const attributeAliases: Readonly<Record<string, string>> = {
  creation_time: "creation_timestamp_ms",
  creation_timestamp: "creation_timestamp_ms",
  last_updated_timestamp: "last_updated_timestamp_ms",
};

interface LoggedModelField {
  readonly kind: "attribute" | "metrics" | "params" | "tags";
  readonly key: string;
}

const grammar = mlflowGrammar<LoggedModelField>((entity, key) => {
  switch (entity) {
    case "metrics":
      return { field: { kind: entity, key }, type: "number" };
    case "params":
    case "tags":
      return { field: { kind: entity, key }, type: "text", list: true };
    case "attribute":
    case "attributes": {
      const name = attributeName(key);
      if (name === undefined) return `is not an attribute of a logged model: use ${Object.keys(attributes).join(", ")}`;
      const type = name.endsWith("_timestamp_ms") ? "number" : "text";
      return { field: { kind: "attribute", key: name }, type, list: type === "text" };
    }
    default:
      return "must begin with attributes., metrics., params. or tags.";
  }
});

function attributeName(key: string): string | undefined {
  const name = Object.hasOwn(attributeAliases, key) ? attributeAliases[key]! : key;
  return Object.hasOwn(attributes, name) ? name : undefined;
}

/**
 * A model may have several values of a metric; one that satisfies the condition is enough. @throws SearchSyntaxError
 */
export function parseLoggedModelFilter(
  filter: string,
  datasets: readonly DatasetFilter[] = [],
): (model: LoggedModel) => boolean {
  const onDatasets = ({ datasetName, datasetDigest }: LoggedModelMetric): boolean =>
    datasets.length === 0 ||
    datasets.some(
      (one) =>
        one.datasetName === datasetName && (one.datasetDigest === undefined || one.datasetDigest === datasetDigest),
    );
  const readerOf = ({ kind, key }: LoggedModelField): Reader<LoggedModel> => {
    if (kind === "attribute") return attributes[key] ?? (() => undefined);
    if (kind === "metrics") {
      return ({ metrics }) => metrics.filter((one) => one.key === key && onDatasets(one)).map(({ value }) => value);
    }
    return ({ [kind]: values }) => (Object.hasOwn(values, key) ? values[key] : undefined);
  };
  const expression = parseMlflowFilter(grammar, filter);
  const fields = expression === undefined ? [] : fieldsOf(expression);
  const needsMetric = datasets.length > 0 && !fields.some(({ kind }) => kind === "metrics");
  const meets = expression === undefined ? () => true : compileFilter(expression, readerOf);
  return (model) => (!needsMetric || model.metrics.some(onDatasets)) && meets(model);
}

/** Parses an order; ties are ordered by creation, newest first. @throws SearchSyntaxError */
export function parseLoggedModelOrder(orders: readonly LoggedModelOrder[]): (a: LoggedModel, b: LoggedModel) => number {
  const columns = orders.map(({ fieldName, ascending = true, datasetName, datasetDigest }) => {
    const attribute = attributeName(fieldName);
    if (attribute !== undefined) return { name: attribute, ascending, read: attributes[attribute]! };
    const [, metric] = /^metrics\.(.+)$/s.exec(fieldName) ?? [];
    if (metric === undefined) {
      const rule = `is not an attribute or a metric of a logged model: use ${Object.keys(attributes).join(", ")} or metrics.<name>`;
      throw new SearchSyntaxError("order_by", { position: 1, token: fieldName, rule });
    }
    const isMeant = (one: LoggedModelMetric): boolean =>
      one.key === metric &&
      (!datasetName || one.datasetName === datasetName) &&
      (!datasetDigest || one.datasetDigest === datasetDigest);
    const read: Attribute = ({ metrics }) => latestOf(metrics.filter(isMeant));
    return { name: fieldName, ascending, read };
  });
  const last = [
    { name: "creation_timestamp_ms", ascending: false, read: attributes["creation_timestamp_ms"]! },
    { name: "model_id", ascending: true, read: attributes["model_id"]! },
  ];
  return orderOf([...columns, ...last.filter(({ name }) => !columns.some((one) => one.name === name))]);
}

/** Returns the value with the latest time, then the highest step; for ties, that of the first run by id. */
function latestOf(metrics: readonly LoggedModelMetric[]): number | undefined {
  let latest: LoggedModelMetric | undefined;
  for (const one of metrics) {
    const later =
      latest === undefined ||
      one.timestamp > latest.timestamp ||
      (one.timestamp === latest.timestamp &&
        (one.step > latest.step || (one.step === latest.step && one.runId < latest.runId)));
    if (later) latest = one;
  }
  return latest?.value;
}
