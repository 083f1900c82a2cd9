import { SearchSyntaxError } from "../../../core/tracking/search/errors";
import { compileFilter, type Reader } from "../../../core/tracking/search/evaluate";
import type { Condition, Expression, OrderTerm, Value } from "../../../core/tracking/search/expression";
import { likeProblem } from "../../../core/tracking/search/like";
import { compareValues } from "../../../core/tracking/search/order";
import {
  type Grammar,
  type NamedPart,
  type Operator,
  type Place,
  parseExpression,
  parseOrderTerms,
} from "../../../core/tracking/search/parser";
import type { Token } from "../../../core/tracking/search/tokens";

/** The comparisons of a field of MLflow's search API. */
interface Comparable<F> {
  readonly field: F;
  /** `id`: a whole number between quotes. */
  readonly type: "text" | "number" | "integer" | "integer-or-text" | "id";
  /** Allows IN and NOT IN. */
  readonly list?: boolean;
  /** Allows IS NULL and IS NOT NULL. */
  readonly nullable?: boolean;
}

/** Resolves `entity.key`; a name without a dot is an attribute. @returns an error message if there is no such field */
export type FieldResolver<F> = (entity: string, key: string) => Comparable<F> | string;

/** MLflow's search grammar. Names with characters other than letters, digits and `_` are quoted. */
export function mlflowGrammar<F>(
  resolve: FieldResolver<F>,
  orderable: (field: Comparable<F>) => boolean = () => true,
): Grammar<Comparable<F>, F> {
  return {
    orderPath: "order_by",
    limits: { filterLength: 100_000, depth: 0, conditions: Number.POSITIVE_INFINITY, listLength: 100_000 },
    logic: false,
    functions: [],
    applied: (_name, field) => field,
    field(parts, at) {
      const [first, ...rest] = parts as readonly [NamedPart, ...NamedPart[]];
      const bare = parts.find(({ value, quoted }) => !quoted && !/^[\p{L}\p{N}_$#]+$/u.test(value));
      if (bare) refuse(at, `has a name with special characters: write \`${bare.value}\` in backticks`);
      const found = rest.length === 0 ? resolve("attribute", first.value) : resolve(first.value, keyOf(rest));
      return typeof found === "string" ? refuse(at, found) : found;
    },
    condition: mlflowCondition,
    ordered(field, at) {
      return orderable(field) ? field.field : refuse(at, "cannot be used for the order");
    },
  };
}

function keyOf(parts: readonly NamedPart[]): string {
  return parts.map(({ value }) => value).join(".");
}

export function parseMlflowOrder<N, F>(grammar: Grammar<N, F>, texts: readonly string[]): readonly OrderTerm<F>[] {
  return texts.map((text) => {
    if (text !== text.trim()) refuse({ path: "order_by", position: 1, raw: text }, "begins or ends with a blank");
    const [term, more] = parseOrderTerms(grammar, text);
    if (!term || more) throw new SearchSyntaxError("order_by", { position: 1, token: text, rule: "must be one field" });
    return term;
  });
}

/** @returns `undefined` if it is empty @throws SearchSyntaxError */
export function parseMlflowFilter<N, F>(grammar: Grammar<N, F>, filter: string) {
  return parseExpression(grammar, filter, 0);
}

export function refuseDuplicates(names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return;
  throw new SearchSyntaxError("order_by", { position: 1, token: twice, rule: "is named twice" });
}

function mlflowCondition<F>(compared: Comparable<F>, operator: Operator, values: readonly Token[]): Condition<F> {
  const { field } = compared;
  const { name, negated } = operator;
  checkOperator(compared, operator);
  switch (name) {
    case "IS NULL":
      return { type: "null", field, negated };
    case "IN":
      return { type: "in", field, negated, values: values.map((token) => literal(compared, token)) };
    case "LIKE":
    case "ILIKE": {
      const pattern = String(literal(compared, values[0]!));
      const problem = likeProblem(pattern);
      if (problem !== undefined) refuse(placeOf(values[0]!), problem);
      return { type: "like", field, negated, pattern, ignoreCase: name === "ILIKE" };
    }
    case "BETWEEN":
      return refuse(placeOf(operator.token), "is not a comparator of MLflow's search");
    default:
      return { type: "compare", field, comparator: name, value: literal(compared, values[0]!) };
  }
}

function checkOperator<F>({ type, list, nullable }: Comparable<F>, { name, negated, token }: Operator): void {
  const written = name === "IS NULL" && negated ? "IS NOT NULL" : negated ? `NOT ${name}` : name;
  const allowed = [
    ...["=", "!="],
    ...(type === "text" ? ["LIKE", "ILIKE"] : type === "id" ? [] : ["<", "<=", ">", ">="]),
    ...(list ? ["IN", "NOT IN"] : []),
    ...(nullable ? ["IS NULL", "IS NOT NULL"] : []),
  ];
  if (!allowed.includes(written))
    refuse(placeOf(token), `is not a comparator of this field: use ${allowed.join(", ")}`);
}

const wholeNumber = /^\s*[-+]?\d+\s*$/;

function literal<F>({ type }: Comparable<F>, token: Token): Value {
  const text = token.type === "text" ? token.raw.slice(1, -1) : undefined;
  const number = token.type === "number" ? token : undefined;
  switch (type) {
    case "text":
      return text ?? refuse(placeOf(token), `must be a text in quotes: '${token.raw}'`);
    case "id":
      // Ids are numbers; leading zeros are ignored.
      if (text !== undefined && /^\s*\+?\d{1,15}\s*$/.test(text)) return String(Number(text));
      return refuse(placeOf(token), "must be an id in quotes: '1'");
    case "number":
      return number?.number ?? refuse(placeOf(token), "must be a number without quotes");
    default: {
      const written = number?.raw ?? (type === "integer" ? undefined : text);
      if (written !== undefined && wholeNumber.test(written)) return Number(written);
      return refuse(placeOf(token), "must be a whole number");
    }
  }
}

function placeOf({ position, raw }: Token): Place {
  return { path: "filter", position, raw };
}

function refuse({ path, position, raw: token }: Place, rule: string): never {
  throw new SearchSyntaxError(path, { position, token, rule });
}

export interface EntityField {
  readonly kind: "attribute" | "tag";
  readonly key: string;
}

export type EntityGrammar = Grammar<Comparable<EntityField>, EntityField>;

interface Tagged {
  readonly tags: Readonly<Record<string, string>>;
}

type Attributes<T> = Readonly<Record<string, (entity: T) => string | number | undefined>>;

/** @param attributes comparisons of each attribute, by name @param nullableTags whether IS NULL applies to tags */
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

/** An empty filter matches everything. @throws SearchSyntaxError */
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

export function parseEntityOrder(grammar: EntityGrammar, texts: readonly string[]): readonly OrderTerm<string>[] {
  return parseMlflowOrder(grammar, texts).map(({ field, ascending }) => ({ field: field.key, ascending }));
}

interface Column<T> {
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

/** @param last terms for ties, unless they are among the first */
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
