import { nativeCondition } from "./conditions";
import { SearchSyntaxError } from "./errors";
import type { Expression, Field, MetricAspect, OrderTerm } from "./expression";
import { metricAspects, resolveField } from "./fields";
import { type Grammar, parseExpression, parseOrderTerms } from "./parser";
import type { QueryLanguage } from "./query";

/** Limits of one search: the cost of a filter grows with its length, on every run. */
export const searchLimits = {
  filterLength: 16_384,
  depth: 32,
  conditions: 200,
  listLength: 1_000,
  orderTerms: 8,
} as const;

const grammar: Grammar<Field, Field> = {
  orderPath: "orderBy",
  limits: searchLimits,
  logic: true,
  field: resolveField,
  functions: metricAspects,
  applied(name, field, { path, position, raw: token }) {
    if (field.kind === "metric") return { ...field, aspect: name as MetricAspect };
    const rule = `can be used only with metrics, as in ${name}(metrics.loss)`;
    throw new SearchSyntaxError(path, { position, token, rule });
  },
  condition: nativeCondition,
  ordered(field, { path, position, raw: token }) {
    if (field.kind !== "dataset") return field;
    const rule = "cannot be used for the order: a run may have several datasets";
    throw new SearchSyntaxError(path, { position, token, rule });
  },
};

/**
 * Parses a filter of the native language (docs/search.md).
 *
 * @param now milliseconds since the epoch
 * @throws SearchSyntaxError
 */
export function parseFilter(source: string, now: number): Expression | undefined {
  return parseExpression(grammar, source, now);
}

/**
 * Parses `metrics.val_loss ASC, params.depth`: the terms of all texts, in order.
 *
 * @throws SearchSyntaxError
 */
export function parseOrder(sources: readonly string[]): readonly OrderTerm[] {
  const terms = sources.flatMap((source) => parseOrderTerms(grammar, source));
  if (terms.length > searchLimits.orderTerms) {
    const rule = `has ${terms.length} terms, more than the maximum of ${searchLimits.orderTerms}`;
    throw new SearchSyntaxError("orderBy", { position: 1, token: sources[0]?.slice(0, 40) ?? "", rule });
  }
  return terms;
}

export const nativeLanguage: QueryLanguage = { name: "ringmaster", ordersNumbersInText: true, parseFilter, parseOrder };
