import { MlflowFilterError } from "../../../core/tracking/search/errors";
import { likeMatcher } from "../../../core/tracking/search/like";
import { type Clause, keyText, listTexts, pythonSet, quotedText } from "./clauses";
import type { MlflowToken } from "./tokens";

/** Conditions on experiments, models and versions: on an attribute or a tag. */
export interface EntityCondition {
  readonly type: "attribute" | "tag";
  readonly key: string;
  readonly comparator: string;
  readonly value: string | number | readonly string[] | undefined;
}

export interface EntityGrammar {
  readonly attributes: readonly string[];
  readonly numericAttributes: readonly string[];
  /** Attributes that may be compared with a list. */
  readonly listAttributes: readonly string[];
  /** Whether a numeric attribute refuses a quoted number. */
  readonly strictNumbers: boolean;
  readonly nullableTags: boolean;
  /** How a comparator is refused that does not go with an attribute. */
  readonly wrongComparator: (key: string, comparator: string, numeric: boolean) => string;
  /** Named where another attribute is compared with a number. */
  readonly shownNumericAttributes?: readonly string[];
}

export const orderComparators = ["=", "!=", "<", "<=", ">", ">="] as const;
export const textComparators = ["=", "!=", "LIKE", "ILIKE"] as const;

/** @throws MlflowFilterError */
export function entityCondition(clause: Clause, grammar: EntityGrammar): EntityCondition {
  const { type, key } = entityIdentifier(clause.identifier.raw, grammar.attributes);
  const { comparator, value: token } = clause;
  if (token === undefined) {
    if (!grammar.nullableTags) throw new MlflowFilterError("Invalid comparison clause. Expected 3 tokens found 2");
    if (type === "tag") return { type, key, comparator, value: undefined };
    throw new MlflowFilterError(`IS NULL / IS NOT NULL is only supported for tags, not for attribute '${key}'`);
  }
  if (type === "tag") {
    if (token.kind !== "text" && token.kind !== "identifier") {
      throw new MlflowFilterError(`Expected a quoted string value for tag (e.g. 'my-value'). Got value ${token.raw}`);
    }
    const value = quotedText(token);
    const isKnown = textComparators.some((one) => one === comparator);
    if (!isKnown) throw new MlflowFilterError(`Invalid comparator for tag: ${comparator}`);
    return { type, key, comparator, value };
  }
  const value = attributeValue(key, token, grammar);
  const isNumeric = grammar.numericAttributes.includes(key);
  const lists = grammar.listAttributes.includes(key) ? ["IN", "NOT IN"] : [];
  const allowed = isNumeric ? orderComparators : [...textComparators, ...lists];
  if (!allowed.some((one) => one === comparator)) {
    throw new MlflowFilterError(grammar.wrongComparator(key, comparator, isNumeric));
  }
  if ((typeof value === "object") !== (comparator === "IN" || comparator === "NOT IN")) {
    throw new MlflowFilterError(`Invalid comparator for attribute ${key}: ${comparator} and a list do not go together`);
  }
  return { type, key, comparator, value };
}

export function entityIdentifier(
  raw: string,
  attributes: readonly string[],
): { readonly type: "attribute" | "tag"; readonly key: string } {
  const dot = raw.indexOf(".");
  const entity = dot === -1 ? "attribute" : raw.slice(0, dot);
  if (entity !== "attribute" && entity !== "tag" && entity !== "tags") {
    throw new MlflowFilterError(`Invalid entity type '${entity}'. Valid entity types are ('attribute', 'tag', 'tags')`);
  }
  const key = keyText(raw.slice(dot + 1));
  if (entity !== "attribute") return { type: "tag", key };
  if (attributes.includes(key)) return { type: "attribute", key };
  throw new MlflowFilterError(`Invalid attribute key '${key}' specified. Valid keys are '${pythonSet(attributes)}'`);
}

function attributeValue(key: string, token: MlflowToken, grammar: EntityGrammar): string | number | readonly string[] {
  const { kind, raw } = token;
  const isNumber = kind === "integer" || kind === "float";
  if (grammar.numericAttributes.includes(key)) {
    const text = isNumber || grammar.strictNumbers ? raw : quotedText(token);
    if (grammar.strictNumbers && !isNumber) {
      throw new MlflowFilterError(`Expected numeric value type for numeric attribute: ${key}. Found ${raw}`);
    }
    if (/^\s*[-+]?\d+\s*$/.test(text)) return Number(text);
    throw new MlflowFilterError(
      `Invalid value for numeric attribute '${key}': ${isNumber && !grammar.strictNumbers ? raw : `'${text}'`}`,
    );
  }
  if (kind === "text" || kind === "identifier") return quotedText(token);
  if (kind === "list") {
    if (grammar.listAttributes.includes(key)) return listTexts(token);
    throw new MlflowFilterError(
      `Only [${grammar.listAttributes.map((one) => `'${one}'`).join(", ")}] attributes support comparison with a list of quoted string values.`,
    );
  }
  if (isNumber && grammar.shownNumericAttributes) {
    throw new MlflowFilterError(
      `Only the '${pythonSet(grammar.shownNumericAttributes)}' attributes support comparison with numeric values.`,
    );
  }
  const expected = grammar.strictNumbers
    ? "a quoted string value"
    : "a quoted string value or a list of quoted string values";
  throw new MlflowFilterError(`Expected ${expected} for attributes. Got value ${raw}`);
}

type Scalar = string | number | undefined;

/** Whether a value meets a condition. What is not there meets none but `IS NULL`. */
export function meetsCondition(
  value: Scalar,
  { comparator, value: wanted }: Pick<EntityCondition, "comparator" | "value">,
): boolean {
  if (comparator === "IS NULL") return value === undefined;
  if (comparator === "IS NOT NULL") return value !== undefined;
  if (value === undefined || wanted === undefined) return false;
  if (typeof wanted === "object") return wanted.includes(String(value)) === (comparator === "IN");
  switch (comparator) {
    case "=":
      return value === wanted;
    case "!=":
      return value !== wanted;
    case "<":
      return value < wanted;
    case "<=":
      return value <= wanted;
    case ">":
      return value > wanted;
    case ">=":
      return value >= wanted;
    default:
      return likeMatcher(String(wanted), comparator === "ILIKE")(String(value));
  }
}

/** By several columns; the absent last, in either direction. */
export function entityComparator<T>(
  columns: readonly { readonly read: (entity: T) => Scalar; readonly ascending: boolean }[],
): (a: T, b: T) => number {
  return (a, b) => {
    for (const { read, ascending } of columns) {
      const left = read(a);
      const right = read(b);
      if (left === right) continue;
      if (left === undefined) return 1;
      if (right === undefined) return -1;
      const isNanLeft = Number.isNaN(left);
      if (isNanLeft || Number.isNaN(right)) {
        if (isNanLeft && Number.isNaN(right)) continue;
        return isNanLeft ? 1 : -1;
      }
      return left < right === ascending ? -1 : 1;
    }
    return 0;
  };
}
