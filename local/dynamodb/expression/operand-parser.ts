import { validation } from "../errors";
import type { AttributeValue } from "../value/attribute-value";
import { type Path, pathText, samePath } from "./ast";
import { parsePath } from "./path";
import type { Scope } from "./scope";
import type { Tokens } from "./tokens";

type Leaf = { readonly kind: "path"; readonly path: Path } | { readonly kind: "value"; readonly value: AttributeValue };

export abstract class OperandParser<Term extends { readonly kind: string }> {
  constructor(
    protected readonly tokens: Tokens,
    protected readonly scope: Scope,
  ) {}

  protected abstract inner(): Term | Leaf;

  protected abstract call(): Term | Leaf;

  protected term(): Term | Leaf {
    const token = this.tokens.peek();
    if (token.kind === "value") return { kind: "value", value: this.scope.value(this.tokens.next().text) };
    if (this.tokens.take("(")) {
      const inner = this.inner();
      this.tokens.expect(")");
      return inner;
    }
    const next = this.tokens.peek(1);
    if (token.kind === "word" && next.kind === "symbol" && next.text === "(") return this.call();
    return { kind: "path", path: parsePath(this.tokens, this.scope) };
  }

  protected args<T>(parse: () => T): T[] {
    const args: T[] = [];
    this.tokens.expect("(");
    if (!this.tokens.at(")")) {
      do args.push(parse());
      while (this.tokens.take(","));
    }
    this.tokens.expect(")");
    return args;
  }

  protected checkDistinct(name: string, first: Term | Leaf, second: Term | Leaf | undefined): void {
    if (!isPath(first) || !isPath(second) || !samePath(first.path, second.path)) return;
    throw validation(
      `The first operand must be distinct from the remaining operands for this operator or function; operator: ${name}, first operand: ${pathText(first.path)}`,
    );
  }

  protected wrongCount = (name: string, count: number): Error =>
    validation(
      `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${count}`,
    );

  protected wrongType = (name: string, type: string): Error =>
    validation(`Incorrect operand type for operator or function; operator or function: ${name}, operand type: ${type}`);

  protected noPath = (name: string): Error =>
    validation(`Operator or function requires a document path; operator or function: ${name}`);

  protected misuse = (name: string): Error =>
    validation(`The function is not allowed to be used this way in an expression; function: ${name}`);
}

function isPath(term: { readonly kind: string } | undefined): term is Extract<Leaf, { kind: "path" }> {
  return term?.kind === "path";
}
