import { compileFilter, type Reader } from "../../../core/tracking/search/evaluate";
import type { Expression, OrderTerm, Value } from "../../../core/tracking/search/expression";
import { compareValues } from "../../../core/tracking/search/order";
import type { Grammar } from "../../../core/tracking/search/parser";
import { type Comparable, mlflowGrammar, parseMlflowFilter, parseMlflowOrder } from "./grammar";

/** A field of an experiment, a registered model or a version. */
export interface EntityField {
  readonly kind: "attribute" | "tag";
  readonly key: string;
}

export type EntityGrammar = Grammar<Comparable<EntityField>, EntityField>;

interface Tagged {
  readonly tags: Readonly<Record<string, string>>;
}

type Attributes<T> = Readonly<Record<string, (entity: T) => string | number | undefined>>;

/**
 * @param attributes comparisons of each attribute, by name
 * @param nullableTags whether IS NULL applies to tags
 */
export function entityGrammar(
  attributes: Readonly<Record<string, Omit<Comparable<never>, "field">>>,
  nullableTags = false,
): EntityGrammar {
  return mlflowGrammar<EntityField>(
    (entity, key) => {
      if (entity === "tag" || entity === "tags") {
        return { field: { kind: "tag", key }, type: "text", nullable: nullableTags };
      }
      if (entity !== "attribute") return "must be an attribute, or begin with tags.";
      if (Object.hasOwn(attributes, key)) return { field: { kind: "attribute", key }, ...attributes[key]! };
      return `is not an attribute: use ${Object.keys(attributes).join(", ")}`;
    },
    ({ field }) => field.kind === "attribute",
  );
}

/**
 * Compiles a filter; an empty one matches everything.
 *
 * @throws SearchSyntaxError
 */
export function entityFilter<T extends Tagged>(
  expression: Expression<EntityField> | undefined,
  attributes: Attributes<T>,
): (entity: T) => boolean {
  if (expression === undefined) return () => true;
  return compileFilter(expression, ({ kind, key }): Reader<T> => {
    if (kind === "attribute") return attributes[key] ?? (() => undefined);
    return ({ tags }) => (Object.hasOwn(tags, key) ? tags[key] : undefined);
  });
}

export function parseEntityFilter<T extends Tagged>(grammar: EntityGrammar, filter: string, attributes: Attributes<T>) {
  return entityFilter(parseMlflowFilter(grammar, filter), attributes);
}

/**
 * Parses an `order_by` list into names of attributes.
 *
 * @throws SearchSyntaxError
 */
export function parseEntityOrder(grammar: EntityGrammar, texts: readonly string[]): readonly OrderTerm<string>[] {
  return parseMlflowOrder(grammar, texts).map(({ field, ascending }) => ({ field: field.key, ascending }));
}

export interface Column<T> {
  readonly read: (entity: T) => Exclude<Value, boolean> | undefined;
  readonly ascending: boolean;
}

/** Orders by several columns. Missing values come last in both directions. */
export function orderOf<T>(columns: readonly Column<T>[]): (a: T, b: T) => number {
  return (a, b) => {
    for (const { read, ascending } of columns) {
      const compared = compareValues(read(a) ?? null, read(b) ?? null, ascending ? 1 : -1);
      if (compared !== 0) return compared;
    }
    return 0;
  };
}

/**
 * Orders by attributes.
 *
 * @param last terms for ties, unless they are among the first
 */
export function entityOrder<T>(
  terms: readonly OrderTerm<string>[],
  last: readonly OrderTerm<string>[],
  attributes: Attributes<T>,
): (a: T, b: T) => number {
  const rest = last.filter(({ field }) => !terms.some((term) => term.field === field));
  return orderOf(
    [...terms, ...rest].map(({ field, ascending }) => ({ ascending, read: attributes[field] ?? (() => undefined) })),
  );
}
