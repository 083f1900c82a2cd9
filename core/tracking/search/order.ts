import { digestOf } from "../../digest";
import { toJson } from "../../json-text";
import { mlflowTag } from "../member-tags";
import { AmbiguousNameError, PageTokenError } from "./errors";
import { attributeValues, datasetValue, numberOfText, type Reader, type SearchContext } from "./evaluate";
import { type Expression, type Field, fieldsOf, type OrderTerm, type Value } from "./expression";
import type { SearchQuery } from "./query";
import { metricOffsets, metricWidth, type NameSet, type Resolution, type SearchRow } from "./row";

type OrderValue = number | string | null;

/** The position of a run in the order of a search. The run may have been deleted. */
interface OrderKey {
  readonly values: readonly OrderValue[];
  readonly startedAt: number;
  readonly runId: string;
}

export interface Ranked extends OrderKey {
  readonly row: SearchRow;
}

/** Reads a row's order values. @param naturalTexts params and tags that are numbers come first, as numbers */
export function ranker(
  terms: readonly OrderTerm[],
  context: SearchContext,
  naturalTexts: boolean,
): (row: SearchRow) => Ranked {
  const readers = terms.map(({ field }) => {
    if (field.kind === "dataset") throw new Error("a run has several datasets: their fields order nothing");
    const read = valueReader(field, context);
    const natural = naturalTexts && (field.kind === "param" || field.kind === "tag");
    return (row: SearchRow): OrderValue => {
      const value = read(row);
      if (value === undefined) return null;
      if (typeof value === "boolean") return Number(value);
      return natural && typeof value === "string" ? (numberOfText(value) ?? value) : value;
    };
  });
  return (row) => ({
    row,
    values: readers.map((read) => read(row)),
    startedAt: row.record.startedAt,
    runId: row.record.runId,
  });
}

/** By terms, then start (newest first), then run id. NaN comes after numbers and missing values last, always. */
export function orderComparator(terms: readonly OrderTerm[]): (a: OrderKey, b: OrderKey) => number {
  const signs = terms.map(({ ascending }) => (ascending ? 1 : -1));
  return (a, b) => {
    for (let i = 0; i < signs.length; i++) {
      const compared = compareValues(a.values[i]!, b.values[i]!, signs[i]!);
      if (compared !== 0) return compared;
    }
    if (a.startedAt !== b.startedAt) return b.startedAt - a.startedAt;
    return a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0;
  };
}

/**
 * Compares two values. In both directions NaN comes after the numbers, and missing values come last.
 * @param sign −1: descending
 */
export function compareValues(a: OrderValue, b: OrderValue, sign: number): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (a === b || a === null || b === null) return 0;
  if (typeof a !== typeof b) return (typeof a === "number" ? -1 : 1) * sign;
  return a < b ? -sign : a > b ? sign : 0;
}

function rankOf(value: OrderValue): number {
  if (value === null) return 2;
  return typeof value === "number" && Number.isNaN(value) ? 1 : 0;
}

/** The order key of the page's last run, and the query's digest: valid although runs are created or deleted. */
export function pageTokenOf(query: SearchQuery, last: OrderKey): string {
  const fields = [1, queryDigest(query), last.values.map(encode), last.startedAt, last.runId];
  return Buffer.from(toJson(fields)).toString("base64url");
}

/** @throws PageTokenError */
export function readPageToken(query: SearchQuery, terms: number, token: string): OrderKey {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    throw new PageTokenError("is not a token that a search returned");
  }
  if (!Array.isArray(fields) || fields.length !== 5 || fields[0] !== 1) {
    throw new PageTokenError("is not a token that a search returned");
  }
  const [, digest, encoded, startedAt, runId] = fields as readonly unknown[];
  if (digest !== queryDigest(query)) {
    throw new PageTokenError(
      "belongs to another query: experiments, filter, order and view must not change between pages",
    );
  }
  const values = Array.isArray(encoded) ? encoded.map(decode) : [];
  if (
    values.length !== terms ||
    values.includes(undefined) ||
    typeof startedAt !== "number" ||
    typeof runId !== "string"
  ) {
    throw new PageTokenError("is not a token that a search returned");
  }
  return { values: values as OrderValue[], startedAt, runId };
}

function queryDigest({ experimentIds, filter, language, orderBy, view }: SearchQuery): string {
  const dialect = language?.name ?? "ringmaster";
  return digestOf({ experimentIds: [...experimentIds].sort(), filter, dialect, orderBy, view }).slice(0, 16);
}

type Encoded = null | readonly ["n", number | string] | readonly ["t", string];

function encode(value: OrderValue): Encoded {
  if (value === null) return null;
  return typeof value === "number" ? ["n", value] : ["t", value];
}

function decode(value: unknown): OrderValue | undefined {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [kind, inner] = value as readonly unknown[];
  if (kind === "t") return typeof inner === "string" ? inner : undefined;
  const isNumber = typeof inner === "number" || inner === "NaN" || inner === "Infinity" || inner === "-Infinity";
  return kind === "n" && isNumber ? Number(inner) : undefined;
}

export type ValueReader = (row: SearchRow) => Value | undefined;

export function fieldReader(field: Field, context: SearchContext): Reader<SearchRow> {
  if (field.kind !== "dataset") return valueReader(field, context);
  return ({ record }) =>
    record.datasets.map((one) => datasetValue(one, field.name)).filter((value) => value !== undefined);
}

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

/** Refuses a short name of several params or metrics of a run, matching or not. @throws AmbiguousNameError */
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
