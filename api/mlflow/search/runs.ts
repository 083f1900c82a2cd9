import { MlflowFilterError } from "../../../core/tracking/search/errors";
import type {
  Attribute,
  Comparator,
  Condition,
  Expression,
  Field,
  OrderTerm,
  Value,
} from "../../../core/tracking/search/expression";
import type { QueryLanguage } from "../../../core/tracking/search/query";
import { type Clause, keyText, listTexts, parseClauses, pythonList, pythonSet, quotedText } from "./clauses";
import { parseOrderText, refuseDuplicates } from "./order";

type EntityType = "metric" | "parameter" | "tag" | "attribute" | "dataset";

const entityTypes: readonly EntityType[] = ["metric", "parameter", "tag", "attribute", "dataset"];
const entityAliases: Readonly<Record<string, EntityType>> = {
  metrics: "metric",
  parameters: "parameter",
  param: "parameter",
  params: "parameter",
  tags: "tag",
  attr: "attribute",
  attributes: "attribute",
  run: "attribute",
  datasets: "dataset",
};

const attributeFields: Readonly<Record<string, Attribute>> = {
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
const orderAttributes = Object.keys(attributeFields).filter((key) => !key.toLowerCase().startsWith("run name"));
const numericAttributes = ["start_time", "end_time", "created", "Created"];
const datasetKeys = ["name", "digest", "context"] as const;

const orderComparators = ["=", "!=", "<", "<=", ">", ">="];
const textComparators = ["=", "!=", "LIKE", "ILIKE"];
const nullComparators = ["IS NULL", "IS NOT NULL"];
const listComparators = ["IN", "NOT IN"];

interface Identifier {
  readonly type: EntityType;
  readonly key: string;
}

/** The language of MLflow's `runs/search`. */
export const mlflowRuns: QueryLanguage = {
  name: "mlflow",
  ordersNumbersInText: false,
  parseFilter: parseRunFilter,
  parseOrder: parseRunOrder,
};

/** A filter of MLflow's `runs/search`. `undefined` where it is empty. @throws MlflowFilterError */
export function parseRunFilter(filter: string): Expression | undefined {
  if (filter !== "" && filter.trim() === "") {
    throw new MlflowFilterError(`Invalid filter '${filter}'. Could not be parsed.`);
  }
  // As there: every clause is read before one is judged by its comparator.
  const read = parseClauses(filter, "quoted").map(readClause);
  const operands = read.map(condition);
  return operands.length === 0 ? undefined : { type: "and", operands };
}

/** Its `order_by`: what they leave equal is ordered by start, newest first, then by run id. @throws MlflowFilterError */
export function parseRunOrder(texts: readonly string[]): readonly OrderTerm[] {
  const terms = texts.map((text) => {
    const { column, ascending } = parseOrderText(text);
    const identifier = identify(column, orderAttributes);
    if (identifier.type === "dataset") throw new MlflowFilterError("Invalid identifier type 'dataset'");
    return { field: fieldOf(identifier), ascending };
  });
  refuseDuplicates(
    terms.map(({ field }) => `${field.kind}.${field.name}`),
    texts,
  );
  return terms;
}

function identify(raw: string, attributes: readonly string[]): Identifier {
  const dot = raw.indexOf(".");
  const entity = dot === -1 ? "attribute" : keyOfBackticks(raw.slice(0, dot));
  const type = Object.hasOwn(entityAliases, entity) ? entityAliases[entity] : entityTypes.find((one) => one === entity);
  if (type === undefined) {
    throw new MlflowFilterError(`Invalid entity type '${entity}'. Valid values are ${pythonList(entityTypes)}`);
  }
  const key = keyText(raw.slice(dot + 1));
  if (type === "attribute" && !attributes.includes(key)) {
    throw new MlflowFilterError(`Invalid attribute key '${key}' specified. Valid keys are '${pythonSet(attributes)}'`);
  }
  if (type === "dataset" && !datasetKeys.some((one) => one === key)) {
    throw new MlflowFilterError(`Invalid dataset key '${key}' specified. Valid keys are '${pythonSet(datasetKeys)}'`);
  }
  return { type, key };
}

function keyOfBackticks(raw: string): string {
  return raw.length >= 2 && raw.startsWith("`") && raw.endsWith("`") ? raw.slice(1, -1) : raw;
}

function fieldOf({ type, key }: Identifier): Field {
  switch (type) {
    case "metric":
      return { kind: "metric", name: key, aspect: "last", exact: true };
    case "parameter":
      return { kind: "param", name: key, exact: true };
    case "tag":
      return { kind: "tag", name: key };
    case "attribute":
      return { kind: "attribute", name: attributeFields[key]! };
    case "dataset":
      return { kind: "dataset", name: key as (typeof datasetKeys)[number] };
  }
}

interface ReadClause {
  readonly clause: Clause;
  readonly identifier: Identifier;
  readonly value: Value | readonly string[] | undefined;
}

function readClause(clause: Clause): ReadClause {
  const identifier = identify(clause.identifier.raw, Object.keys(attributeFields));
  const { type, key } = identifier;
  if (clause.value !== undefined) return { clause, identifier, value: literalOf(identifier, clause) };
  if (type === "tag" || type === "parameter") return { clause, identifier, value: undefined };
  throw new MlflowFilterError(
    `IS NULL / IS NOT NULL is only supported for tags and params, not for '${type}' '${key}'`,
  );
}

function condition({ clause, identifier, value }: ReadClause): Condition {
  const { comparator } = clause;
  const field = fieldOf(identifier);
  if (value === undefined) return { type: "null", field, negated: comparator === "IS NOT NULL" };
  checkComparator(comparator, identifier);
  if (typeof value === "object") {
    if (!listComparators.includes(comparator)) {
      throw new MlflowFilterError(
        `Invalid comparator '${clause.rawComparator}' for a list of values. Expected IN or NOT IN`,
      );
    }
    return { type: "in", field, negated: comparator === "NOT IN", values: value };
  }
  if (comparator === "LIKE" || comparator === "ILIKE") {
    return { type: "like", field, negated: false, pattern: String(value), ignoreCase: comparator === "ILIKE" };
  }
  return { type: "compare", field, comparator: comparator as Comparator, value };
}

function checkComparator(comparator: string, { type, key }: Identifier): void {
  const isText = type === "parameter" || (type === "attribute" && !numericAttributes.includes(key));
  const allowed = isNumeric({ type, key })
    ? orderComparators
    : [...textComparators, ...(type === "attribute" || type === "dataset" ? listComparators : nullComparators)];
  if (allowed.includes(comparator)) return;
  // MLflow closes the quote around the set of some kinds only; of a numeric attribute it shows the texts' comparators.
  const shown = type === "attribute" && !isText ? [...textComparators, ...listComparators] : allowed;
  throw new MlflowFilterError(`Invalid comparator '${comparator}' not one of '${pythonSet(shown)}${isText ? "'" : ""}`);
}

function isNumeric({ type, key }: Identifier): boolean {
  return type === "metric" || (type === "attribute" && numericAttributes.includes(key));
}

function literalOf({ type, key }: Identifier, { value }: Clause): Value | readonly string[] {
  const { kind, raw } = value!;
  const isQuoted = kind === "text" || kind === "identifier";
  if (type === "metric") {
    if (kind === "integer" || kind === "float") return Number(raw);
    throw new MlflowFilterError(`Expected numeric value type for metric. Found ${raw}`);
  }
  if (type === "attribute" && numericAttributes.includes(key)) {
    if (kind === "integer" || kind === "float") return Number(raw);
    throw new MlflowFilterError(`Expected numeric value type for numeric attribute: ${key}. Found ${raw}`);
  }
  if (isQuoted) return quotedText(value!);
  switch (type) {
    case "attribute":
      if (kind !== "list")
        throw new MlflowFilterError(`Expected a quoted string value for attributes. Got value ${raw}`);
      if (key !== "run_id") {
        throw new MlflowFilterError(
          "Only ['run_id'] attributes support comparison with a list of quoted string values.",
        );
      }
      return listTexts(value!);
    case "dataset":
      if (kind === "list") return listTexts(value!);
      throw new MlflowFilterError(`Expected a quoted string value for dataset attributes. Got value ${raw}`);
    default:
      throw new MlflowFilterError(`Expected a quoted string value for ${type} (e.g. 'my-value'). Got value ${raw}`);
  }
}
