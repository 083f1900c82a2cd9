import { validation } from "../errors";
import { type AttributeValue, attribute, type Item } from "../value/attribute-value";
import { type Condition, type Operand, type Path, pathText, type SetValue, type Update } from "./ast";
import type { Scope } from "./scope";
import type { Tokens } from "./tokens";

export function parsePath(tokens: Tokens, scope: Scope): Path {
  const path: [string, ...(string | number)[]] = [parseName(tokens, scope)];
  for (;;) {
    if (tokens.take(".")) path.push(parseName(tokens, scope));
    else if (tokens.take("[")) {
      if (tokens.peek().kind !== "number") throw tokens.syntaxError();
      path.push(Number(tokens.next().text));
      tokens.expect("]");
    } else return path;
  }
}

function parseName(tokens: Tokens, scope: Scope): string {
  const { kind } = tokens.peek();
  if (kind !== "word" && kind !== "name") throw tokens.syntaxError();
  return scope.name(tokens.next().text);
}

/** Refuses paths of which one contains another, or that use a container both as a map and as a list. */
export function checkDistinctPaths(paths: readonly Path[]): void {
  for (const [i, two] of paths.entries()) for (const one of paths.slice(0, i)) checkPair(one, two);
}

function checkPair(one: Path, two: Path): void {
  const both = `must remove or rewrite one of these paths; path one: ${pathText(one)}, path two: ${pathText(two)}`;
  for (let i = 0; i < one.length && i < two.length; i++) {
    if (typeof one[i] !== typeof two[i]) {
      throw validation(`Two document paths conflict with each other; ${both}`);
    }
    if (one[i] !== two[i]) return;
  }
  throw validation(`Two document paths overlap with each other; ${both}`);
}

export function valueAt(item: Item, path: Path): AttributeValue | undefined {
  let value = attribute(item, path[0]);
  for (let i = 1; i < path.length && value !== undefined; i++) {
    const part = path[i]!;
    if (typeof part === "number") value = "L" in value ? value.L[part] : undefined;
    else value = "M" in value ? attribute(value.M, part) : undefined;
  }
  return value;
}

/** Refuses paths that lead into key attributes, which are scalars. */
export function refusePathsIntoKeys(paths: Iterable<Path>, keys: ReadonlyMap<string, string>): void {
  for (const path of paths) {
    const role = path.length > 1 ? keys.get(path[0]) : undefined;
    if (role === undefined) continue;
    throw validation(
      `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ${role}: ${path[0]}`,
    );
  }
}

export function conditionPaths(condition: Condition): Path[] {
  switch (condition.kind) {
    case "and":
    case "or":
      return [...conditionPaths(condition.left), ...conditionPaths(condition.right)];
    case "not":
      return conditionPaths(condition.operand);
    case "compare":
      return operandPaths([condition.left, condition.right]);
    case "between":
      return operandPaths([condition.operand, condition.low, condition.high]);
    case "in":
      return operandPaths([condition.operand, ...condition.list]);
    case "function":
      return operandPaths(condition.args);
  }
}

function operandPaths(operands: readonly Operand[]): Path[] {
  return operands.flatMap((operand) => {
    if (operand.kind === "path") return [operand.path];
    return operand.kind === "size" ? operandPaths([operand.of]) : [];
  });
}

export function updatePaths(update: Update): Path[] {
  return update.flatMap((action) => [action.path, ...(action.kind === "set" ? valuePaths(action.value) : [])]);
}

function valuePaths(value: SetValue): Path[] {
  switch (value.kind) {
    case "value":
      return [];
    case "path":
      return [value.path];
    case "if_not_exists":
      return [value.path, ...valuePaths(value.otherwise)];
    default:
      return [...valuePaths(value.left), ...valuePaths(value.right)];
  }
}
