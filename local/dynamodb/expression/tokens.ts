import { validation } from "../errors";

export type TokenKind = "word" | "name" | "value" | "number" | "symbol" | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const kinds = ["word", "name", "value", "number", "symbol"] as const;
const pattern =
  /[ \t\r\n]*(?:([a-zA-Z][a-zA-Z0-9_]*)|(#[a-zA-Z0-9_]+)|(:[a-zA-Z0-9_]+)|([0-9]+)|(<>|<=|>=|[^ \t\r\n]))/y;

/** The maximum length of an expression: 4 KB. */
const maxLength = 4096;

export class Tokens {
  private readonly all: readonly Token[];
  private position = 0;

  constructor(private readonly expression: string) {
    if (expression === "") throw validation("The expression can not be empty;");
    if (Buffer.byteLength(expression) > maxLength) {
      throw validation(
        `Expression size has exceeded the maximum allowed size; expression size: ${Buffer.byteLength(expression)}`,
      );
    }
    this.all = split(expression);
  }

  peek(ahead = 0): Token {
    return this.all[Math.min(this.position + ahead, this.all.length - 1)]!;
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== "end") this.position++;
    return token;
  }

  /** Returns whether the next token is this symbol, or this keyword in any case. */
  at(text: string): boolean {
    const token = this.peek();
    if (token.kind === "symbol") return token.text === text;
    return token.kind === "word" && token.text.toUpperCase() === text;
  }

  take(text: string): boolean {
    if (!this.at(text)) return false;
    this.position++;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.syntaxError();
  }

  expectEnd(): void {
    if (this.peek().kind !== "end") throw this.syntaxError();
  }

  syntaxError(): Error {
    const token = this.peek();
    const before = this.all[this.position - 1] ?? token;
    const after = this.all[this.position + 1] ?? token;
    const near = this.expression.slice(before.start, after.end).trim();
    return validation(`Syntax error; token: "${token.kind === "end" ? "<EOF>" : token.text}", near: "${near}"`);
  }
}

function split(expression: string): Token[] {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(expression); match; match = pattern.exec(expression)) {
    const group = match.findIndex((text, i) => i > 0 && text !== undefined);
    const text = match[group]!;
    tokens.push({ kind: kinds[group - 1]!, text, start: pattern.lastIndex - text.length, end: pattern.lastIndex });
  }
  tokens.push({ kind: "end", text: "", start: expression.length, end: expression.length });
  return tokens;
}
