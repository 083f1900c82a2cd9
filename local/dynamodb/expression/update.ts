import { type AttributeType, type AttributeValue, typeOf } from "../value/attribute-value";
import { pathText, type SetValue, samePath, type Update, type UpdateAction } from "./ast";
import { checkDistinctPaths, parsePath } from "./path";
import { Findings, type Scope } from "./scope";
import { Tokens } from "./tokens";

const conditionFunctions = new Set([
  "attribute_exists",
  "attribute_not_exists",
  "attribute_type",
  "begins_with",
  "contains",
  "size",
]);
const typeNames: Readonly<Partial<Record<AttributeType, string>>> = {
  S: "STRING",
  N: "NUMBER",
  B: "BINARY",
  NULL: "NULL",
  BOOL: "BOOLEAN",
  L: "LIST",
  M: "MAP",
};
const findingOrder = [
  "parentheses",
  "reserved",
  "function",
  "misuse",
  "section",
  "undefined",
  "overlap",
  "conflict",
  "operand",
  "arity",
];

/** Parses an update expression. Throws ValidationExceptions without the name of the parameter. */
export function parseUpdate(expression: string, scope: Scope): Update {
  return new UpdateParser(new Tokens(expression), scope).parse();
}

class UpdateParser {
  private readonly findings = new Findings();
  private readonly actions: UpdateAction[] = [];
  /** The values that already have their own parentheses. */
  private readonly enclosed = new WeakSet<SetValue>();

  constructor(
    private readonly tokens: Tokens,
    private readonly scope: Scope,
  ) {}

  parse(): Update {
    const seen = new Set<string>();
    do {
      const section = this.section();
      if (seen.has(section)) {
        this.findings.add("section", `The "${section}" section can only be used once in an update expression;`);
      }
      seen.add(section);
    } while (this.tokens.peek().kind !== "end");
    checkDistinctPaths(
      this.actions.map((action) => action.path),
      this.findings,
    );
    this.findings.throwFirst(findingOrder);
    return this.actions;
  }

  private section(): string {
    const section = ["SET", "REMOVE", "ADD", "DELETE"].find((word) => this.tokens.at(word));
    if (section === undefined) throw this.tokens.syntaxError();
    this.tokens.next();
    do this.actions.push(this.action(section));
    while (this.tokens.take(","));
    return section;
  }

  private action(section: string): UpdateAction {
    const path = parsePath(this.tokens, this.scope, this.findings);
    if (section === "REMOVE") return { kind: "remove", path };
    if (section === "SET") {
      this.tokens.expect("=");
      return { kind: "set", path, value: this.sum() };
    }
    if (this.tokens.peek().kind !== "value") throw this.tokens.syntaxError();
    const value = this.scope.value(this.tokens.next().text, this.findings);
    const type = typeOf(value);
    const name = typeNames[type];
    if (name !== undefined && !(section === "ADD" && type === "N")) {
      this.findings.add(
        "operand",
        `Incorrect operand type for operator or function; operator: ${section}, operand type: ${name}`,
      );
    }
    return { kind: section === "ADD" ? "add" : "delete", path, value };
  }

  /** Parses a term with at most one operator. `a + b + c` is a syntax error in DynamoDB. */
  private sum(): SetValue {
    const left = this.term();
    const sign = (["+", "-"] as const).find((symbol) => this.tokens.at(symbol));
    if (sign === undefined) return left;
    this.tokens.next();
    const right = this.term();
    for (const operand of [left, right]) {
      this.checkNesting(operand);
      this.checkType(sign, operand, "N");
    }
    return { kind: sign === "+" ? "plus" : "minus", left, right };
  }

  private term(): SetValue {
    const token = this.tokens.peek();
    if (token.kind === "value") {
      return { kind: "value", value: this.scope.value(this.tokens.next().text, this.findings) };
    }
    if (this.tokens.take("(")) {
      const inner = this.sum();
      this.tokens.expect(")");
      if (this.enclosed.has(inner)) this.findings.add("parentheses", "The expression has redundant parentheses;");
      this.enclosed.add(inner);
      return inner;
    }
    const next = this.tokens.peek(1);
    if (token.kind === "word" && next.kind === "symbol" && next.text === "(") return this.call();
    return { kind: "path", path: parsePath(this.tokens, this.scope, this.findings) };
  }

  private call(): SetValue {
    const name = this.tokens.next().text;
    const args: SetValue[] = [];
    this.tokens.expect("(");
    if (!this.tokens.at(")")) {
      do args.push(this.term());
      while (this.tokens.take(","));
    }
    this.tokens.expect(")");
    if (name !== "if_not_exists" && name !== "list_append") {
      this.findings.add(
        "function",
        conditionFunctions.has(name)
          ? `The function is not allowed in an update expression; function: ${name}`
          : `Invalid function name; function: ${name}`,
      );
      return placeholder;
    }
    const [left, right] = args;
    if (left === undefined || right === undefined || args.length > 2) {
      this.findings.add(
        "arity",
        `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${args.length}`,
      );
      return placeholder;
    }
    for (const operand of args) this.checkNesting(operand);
    if (name === "if_not_exists") {
      this.checkDistinct(left, right);
      if (left.kind === "path") return { kind: "if_not_exists", path: left.path, otherwise: right };
      this.findings.add(
        "operand",
        "Operator or function requires a document path; operator or function: if_not_exists",
      );
      return placeholder;
    }
    for (const operand of args) this.checkType(name, operand, "L");
    return { kind: "list_append", left, right };
  }

  /** Checks that an operand of `list_append` is not a `list_append` itself. */
  private checkNesting(operand: SetValue): void {
    if (operand.kind !== "list_append") return;
    this.findings.add(
      "misuse",
      "The function is not allowed to be used this way in an expression; function: list_append",
    );
  }

  private checkDistinct(first: SetValue, second: SetValue): void {
    if (first.kind !== "path" || second.kind !== "path" || !samePath(first.path, second.path)) return;
    this.findings.add(
      "arity",
      `The first operand must be distinct from the remaining operands for this operator or function; operator: if_not_exists, first operand: ${pathText(first.path)}`,
    );
  }

  private checkType(name: string, operand: SetValue, wanted: AttributeType): void {
    const type = knownType(operand);
    if (type === undefined || type === wanted) return;
    this.findings.add(
      "operand",
      `Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`,
    );
  }
}

/** A placeholder for a term that already has a finding. */
const placeholder: SetValue = { kind: "value", value: { NULL: true } satisfies AttributeValue };

function knownType(value: SetValue): AttributeType | undefined {
  if (value === placeholder) return undefined;
  if (value.kind === "value") return typeOf(value.value);
  if (value.kind === "list_append") return "L";
  return value.kind === "plus" || value.kind === "minus" ? "N" : undefined;
}
