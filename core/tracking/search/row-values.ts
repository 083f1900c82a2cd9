import { mlflowTag } from "../member-tags";
import { AmbiguousNameError } from "./errors";
import { attributeValues, datasetValue, type Reader, type SearchContext } from "./evaluate";
import { type Expression, type Field, fieldsOf, type OrderTerm, type Value } from "./expression";
import { metricOffsets, metricWidth, type NameSet, type Resolution, type SearchRow } from "./row";

export type ValueReader = (row: SearchRow) => Value | undefined;

/** Returns the reader of a run's field, for a filter. */
export function fieldReader(field: Field, context: SearchContext): Reader<SearchRow> {
  if (field.kind !== "dataset") return valueReader(field, context);
  return ({ record }) =>
    record.datasets.map((one) => datasetValue(one, field.name)).filter((value) => value !== undefined);
}

/** Returns the reader of a field that has one value. */
export function valueReader(field: Exclude<Field, { kind: "dataset" }>, context: SearchContext): ValueReader {
  switch (field.kind) {
    case "metric": {
      const offset = metricOffsets[field.aspect];
      const positionIn = resolver(field);
      return (row) => {
        const { position } = positionIn(row.metricNames);
        return position === -1 ? undefined : row.metrics[position * metricWidth + offset];
      };
    }
    case "param": {
      const nameIn = resolver(field);
      return (row) => {
        const { name } = nameIn(row.paramNames);
        return name === undefined ? undefined : row.record.params[name];
      };
    }
    case "tag":
      return ({ record }) => mlflowTag(record, field.name);
    case "attribute": {
      const read = attributeValues[field.name];
      return ({ record }) => read(record, context);
    }
  }
}

/** Returns a resolver that keeps its last result, because consecutive runs usually have the same names. */
function resolver(field: { readonly name: string; readonly exact: boolean }): (names: NameSet) => Resolution {
  let last: NameSet | undefined;
  let resolution: Resolution | undefined;
  return (names) => {
    if (names !== last) {
      last = names;
      resolution = names.resolve(field.name, field.exact);
    }
    return resolution!;
  };
}

/**
 * Returns a check that refuses a short name of several params or metrics of a run, even if the rest of the filter
 * excludes that run.
 *
 * @throws AmbiguousNameError
 */
export function ambiguityCheck(
  filter: Expression | undefined,
  order: readonly OrderTerm[],
): ((row: SearchRow) => void) | undefined {
  const fields = [...(filter === undefined ? [] : fieldsOf(filter)), ...order.map((term) => term.field)];
  const params = fields.flatMap((field) => (field.kind === "param" && !field.exact ? [field.name] : []));
  const metrics = fields.flatMap((field) => (field.kind === "metric" && !field.exact ? [field.name] : []));
  if (params.length === 0 && metrics.length === 0) return undefined;
  const checked = new Set<NameSet>();
  const check = (kind: "params" | "metrics", names: NameSet, wanted: readonly string[], runId: string): void => {
    if (checked.has(names)) return;
    for (const name of wanted) {
      const { ambiguous } = names.resolve(name, false);
      if (ambiguous) throw new AmbiguousNameError(kind, name, ambiguous, runId);
    }
    checked.add(names);
  };
  return ({ record, paramNames, metricNames }) => {
    check("params", paramNames, params, record.runId);
    check("metrics", metricNames, metrics, record.runId);
  };
}
