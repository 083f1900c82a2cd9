import { MlflowFilterError } from "../../../core/tracking/search/errors";
import { listTexts, parseClauses } from "./clauses";
import { entityComparator, meetsCondition, orderComparators, textComparators } from "./conditions";
import type { MlflowToken } from "./tokens";

/** What MLflow's `logged-models/search` looks at. */
export interface SearchedLoggedModel {
  readonly modelId: string;
  readonly name: string;
  readonly experimentId: string;
  readonly modelType?: string;
  readonly sourceRunId?: string;
  readonly artifactLocation: string;
  /** As it is to be compared with: MLflow keeps a number, which no quoted text equals. */
  readonly status: string | number;
  /** Milliseconds since the epoch. */
  readonly creationTimestamp: number;
  readonly lastUpdatedTimestamp: number;
  readonly params: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly metrics: readonly SearchedModelMetric[];
}

export interface SearchedModelMetric {
  readonly name: string;
  readonly value: number;
  readonly timestamp: number;
  readonly step: number;
  readonly runId: string;
  readonly datasetName?: string;
  readonly datasetDigest?: string;
}

/** Metrics on these data alone count; on any where there are none. */
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

const attributeReaders: Readonly<Record<string, (model: SearchedLoggedModel) => string | number | undefined>> = {
  model_id: (model) => model.modelId,
  name: (model) => model.name,
  experiment_id: (model) => model.experimentId,
  model_type: (model) => model.modelType,
  source_run_id: (model) => model.sourceRunId,
  artifact_location: (model) => model.artifactLocation,
  status: (model) => model.status,
  creation_timestamp_ms: (model) => model.creationTimestamp,
  last_updated_timestamp_ms: (model) => model.lastUpdatedTimestamp,
};
const attributeAliases: Readonly<Record<string, string>> = {
  creation_time: "creation_timestamp_ms",
  creation_timestamp: "creation_timestamp_ms",
  last_updated_timestamp: "last_updated_timestamp_ms",
};
const entityTypes = ["attributes", "metrics", "params", "tags"] as const;
const listedComparators = [...textComparators, "IN", "NOT IN"];

/**
 * The grammar of `mlflow/utils/search_logged_model_utils.py`: a filter, and the datasets whose metrics count. A model may have a metric many times; one
 * that meets the condition is enough.
 *
 * @throws MlflowFilterError
 */
export function parseLoggedModelFilter(
  filter: string,
  datasets: readonly DatasetFilter[] = [],
): (model: SearchedLoggedModel) => boolean {
  const onDatasets = ({ datasetName, datasetDigest }: SearchedModelMetric): boolean =>
    datasets.length === 0 ||
    datasets.some(
      (one) =>
        one.datasetName === datasetName && (one.datasetDigest === undefined || one.datasetDigest === datasetDigest),
    );
  const conditions = parseClauses(filter, "filter").map(({ identifier, comparator, value }) => {
    const { type, key } = entityOf(identifier.raw);
    const isNumeric = type === "metrics" || (type === "attributes" && key.endsWith("_timestamp_ms"));
    const allowed: readonly string[] = isNumeric ? orderComparators : listedComparators;
    if (value === undefined || !allowed.includes(comparator)) {
      throw new MlflowFilterError(
        `Invalid comparison operator for ${type}.${key}: '${comparator}'. Expected one of (${allowed.map((one) => `'${one}'`).join(", ")}).`,
      );
    }
    return { type, key, comparator, value: isNumeric ? numberOf(value) : textsOf(value, comparator) };
  });
  const needsMetric = datasets.length > 0 && !conditions.some(({ type }) => type === "metrics");
  return (model) => {
    if (needsMetric && !model.metrics.some(onDatasets)) return false;
    return conditions.every(({ type, key, ...condition }) => {
      if (type === "metrics") {
        return model.metrics.some((one) => one.name === key && onDatasets(one) && meetsCondition(one.value, condition));
      }
      if (type === "attributes") return meetsCondition(attributeReaders[key]!(model), condition);
      const values = model[type];
      return meetsCondition(Object.hasOwn(values, key) ? values[key] : undefined, condition);
    });
  };
}

function entityOf(raw: string): { readonly type: (typeof entityTypes)[number]; readonly key: string } {
  const named = /^([a-z]+)\.(.+)$/s.exec(raw);
  if (named) {
    const type = entityTypes.find((one) => one === named[1]);
    if (type === undefined) {
      throw new MlflowFilterError(
        `Invalid entity type: '${named[1]}'. Expected one of [${entityTypes.map((one) => `'${one}'`).join(", ")}].`,
      );
    }
    const key = withoutBackticks(named[2]!);
    if (type === "attributes") checkAttribute(key);
    return { type, key };
  }
  const bare = withoutBackticks(raw);
  const key = Object.hasOwn(attributeAliases, bare) ? attributeAliases[bare]! : bare;
  checkAttribute(key);
  return { type: "attributes", key };
}

function checkAttribute(key: string): void {
  if (!Object.hasOwn(attributeReaders, key)) throw new MlflowFilterError(`Invalid logged model search key '${key}'`);
}

function withoutBackticks(text: string): string {
  return text.replace(/^`+/, "").replace(/`+$/, "");
}

function numberOf({ kind, raw }: MlflowToken): number {
  if (kind === "integer" || kind === "float") return Number(raw);
  throw new MlflowFilterError(`Expected numeric value type. Found ${raw}`);
}

function textsOf(token: MlflowToken, comparator: string): string | readonly string[] {
  const isListed = comparator === "IN" || comparator === "NOT IN";
  if ((token.kind === "list") !== isListed) {
    throw new MlflowFilterError(`Invalid value for comparator '${comparator}': ${token.raw}`);
  }
  return isListed ? listTexts(token) : token.raw.replace(/^'+/, "").replace(/'+$/, "");
}

/** Without an order: newest first. @throws MlflowFilterError */
export function parseLoggedModelOrder(
  orders: readonly LoggedModelOrder[],
): (a: SearchedLoggedModel, b: SearchedLoggedModel) => number {
  const columns = orders.map(({ fieldName, ascending = true, datasetName, datasetDigest }) => {
    const dot = fieldName.indexOf(".");
    if (dot === -1) {
      const key = Object.hasOwn(attributeAliases, fieldName) ? attributeAliases[fieldName]! : fieldName;
      const read = Object.hasOwn(attributeReaders, key) ? attributeReaders[key] : undefined;
      if (!read) throw new MlflowFilterError(`Invalid order by field name: ${fieldName}`);
      return { key, ascending, read };
    }
    if (fieldName.slice(0, dot) !== "metrics") {
      throw new MlflowFilterError(`Invalid order by field name: ${fieldName}. Only metrics are supported.`);
    }
    const isMeant = (one: SearchedModelMetric): boolean =>
      one.name === fieldName.slice(dot + 1) &&
      (!datasetName || one.datasetName === datasetName) &&
      (!datasetDigest || one.datasetDigest === datasetDigest);
    return {
      key: `${fieldName}@${datasetName}@${datasetDigest}`,
      ascending,
      read: (model: SearchedLoggedModel) => latestOf(model.metrics.filter(isMeant)),
    };
  });
  const has = (key: string): boolean => columns.some((one) => one.key === key);
  return entityComparator([
    ...columns,
    ...(has("creation_timestamp_ms")
      ? []
      : [{ read: (model: SearchedLoggedModel) => model.creationTimestamp, ascending: false }]),
    ...(has("model_id") ? [] : [{ read: (model: SearchedLoggedModel) => model.modelId, ascending: true }]),
  ]);
}

/** By time, then step; of one time and step that of the first run by id. */
function latestOf(metrics: readonly SearchedModelMetric[]): number | undefined {
  let latest: SearchedModelMetric | undefined;
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
