import type { AttributeValue } from "../value/attribute-value";

/**
 * A document path: map keys are strings, and list positions are numbers. The first element is the name of an attribute.
 */
export type Path = readonly [string, ...(string | number)[]];

export type Operand =
  | { readonly kind: "path"; readonly path: Path }
  | { readonly kind: "value"; readonly value: AttributeValue }
  | { readonly kind: "size"; readonly of: Operand };

export type Comparator = "=" | "<>" | "<" | "<=" | ">" | ">=";
export type ConditionFunction = "attribute_exists" | "attribute_not_exists" | "begins_with";

export type Condition =
  | { readonly kind: "and" | "or"; readonly left: Condition; readonly right: Condition }
  | { readonly kind: "not"; readonly operand: Condition }
  | { readonly kind: "compare"; readonly operator: Comparator; readonly left: Operand; readonly right: Operand }
  | { readonly kind: "between"; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  | { readonly kind: "function"; readonly name: ConditionFunction; readonly args: readonly Operand[] };

export type SetValue =
  | { readonly kind: "path"; readonly path: Path }
  | { readonly kind: "value"; readonly value: AttributeValue }
  | { readonly kind: "plus" | "minus"; readonly left: SetValue; readonly right: SetValue }
  | { readonly kind: "if_not_exists"; readonly path: Path; readonly otherwise: SetValue }
  | { readonly kind: "list_append"; readonly left: SetValue; readonly right: SetValue };

export type UpdateAction =
  | { readonly kind: "set"; readonly path: Path; readonly value: SetValue }
  | { readonly kind: "remove"; readonly path: Path }
  | { readonly kind: "add"; readonly path: Path; readonly value: AttributeValue };

export type Update = readonly UpdateAction[];
export type Projection = readonly Path[];

export function pathText(path: Path): string {
  return `[${path.map((part) => (typeof part === "number" ? `[${part}]` : part)).join(", ")}]`;
}

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}
