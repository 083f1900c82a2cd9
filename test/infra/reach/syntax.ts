import type {
  ArrowFunction,
  FunctionDeclaration,
  FunctionExpression,
  ImportDeclaration,
  Node,
  VariableDeclaration,
} from "typescript/unstable/ast";
import * as is from "typescript/unstable/ast/is";

export function isFunction(node: Node): node is ArrowFunction | FunctionExpression | FunctionDeclaration {
  return (
    is.isArrowFunction(node) ||
    is.isFunctionExpression(node) ||
    is.isMethodDeclaration(node) ||
    is.isGetAccessorDeclaration(node) ||
    is.isSetAccessorDeclaration(node)
  );
}

/** Returns a node without the syntax that changes only its type. */
export function unwrapped(node: Node): Node {
  return is.isParenthesizedExpression(node) || is.isAsExpression(node) || is.isSatisfiesExpression(node)
    ? unwrapped(node.expression)
    : node;
}

export function nameOf(node: Node): string {
  const { name } = node as VariableDeclaration;
  return name ? textOf(name) : "(anonymous)";
}

export function textOf(name: Node): string {
  return is.isIdentifier(name) || is.isStringLiteral(name) ? name.text : name.getText();
}

export function isTypeOnly(statement: Node): boolean {
  const clause = (statement as ImportDeclaration).importClause;
  return clause !== undefined && "isTypeOnly" in clause && clause.isTypeOnly === true;
}

/** Returns the module of an imported name, or undefined for a local export. */
export function moduleOf(node: Node): string | undefined {
  let parent: Node = node;
  while (!is.isImportDeclaration(parent) && !is.isExportDeclaration(parent)) parent = parent.parent;
  const { moduleSpecifier } = parent;
  return moduleSpecifier && is.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : undefined;
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
