import { pointingInto, refuseAt, type SearchPath } from "./errors";
import type { Comparator, Condition, Expression, OrderTerm } from "./expression";
import { type Token, tokenize } from "./tokens";

/** A part of a dotted name. */
export interface NamedPart {
  readonly value: string;
  readonly quoted: boolean;
}

export interface Place {
  readonly path: SearchPath;
  /** Position of the first character, from 1. */
  readonly position: number;
  readonly raw: string;
}

export interface Operator {
  readonly name: Comparator | "IN" | "BETWEEN" | "LIKE" | "ILIKE" | "IS NULL";
  readonly negated: boolean;
  readonly token: Token;
}

export interface FilterLimits {
  /** Characters. */
  readonly filterLength: number;
  /** Levels of parentheses and NOT. */
  readonly depth: number;
  readonly conditions: number;
  /** Values of IN. */
  readonly listLength: number;
}

/**
 * The parts of a language that extend the common syntax: its fields and their conditions.
 *
 * @typeParam N a field as the language resolves it
 * @typeParam F a field as the evaluator reads it
 */
export interface Grammar<N, F> {
  readonly orderPath: SearchPath;
  readonly limits: FilterLimits;
  /** OR, NOT and parentheses. Without them a filter is a list of conditions, with or without AND between them. */
  readonly logic: boolean;
  /** @throws SearchSyntaxError if there is no such field */
  field(parts: readonly NamedPart[], at: Place): N;
  /** Names of the functions of a field, as in `min(metrics.loss)`. */
  readonly functions: readonly string[];
  /** @throws SearchSyntaxError if the function does not apply to the field */
  applied(name: string, field: N, at: Place): N;
  /** @throws SearchSyntaxError if the field cannot be compared like this */
  condition(field: N, operator: Operator, values: readonly Token[]): Condition<F>;
  /** @throws SearchSyntaxError if the field has no order */
  ordered(field: N, at: Place): F;
}

/**
 * Parses a filter by recursive descent:
 *
 *     or        := and (OR and)*
 *     and       := not (AND not)*
 *     not       := NOT not | '(' or ')' | condition
 *     condition := field (comparator value | [NOT] IN '(' value, … ')' | [NOT] LIKE text | [NOT] ILIKE text
 *                         | [NOT] BETWEEN value AND value | IS [NOT] NULL)
 *     field     := name | function '(' name ')'
 *
 * @param now milliseconds since the epoch, for times such as `now-7d`
 * @returns `undefined` where the filter is empty
 * @throws SearchSyntaxError
 */
export function parseExpression<N, F>(grammar: Grammar<N, F>, source: string, now: number): Expression<F> | undefined {
  checkLength(source, "filter", grammar.limits.filterLength);
  return pointingInto(source, () => {
    const parser = new Parser(grammar, tokenize(source, "filter", now), "filter");
    if (parser.peek.type === "end") return undefined;
    const expression = grammar.logic ? parser.disjunction(0) : parser.conditionList();
    parser.end(grammar.logic ? "AND, OR or the end" : "AND or the end");
    return expression;
  });
}

/** Parses `metrics.val_loss ASC, params.depth`. @throws SearchSyntaxError */
export function parseOrderTerms<N, F>(grammar: Grammar<N, F>, source: string): readonly OrderTerm<F>[] {
  const path = grammar.orderPath;
  checkLength(source, path, grammar.limits.filterLength);
  return pointingInto(source, () => new Parser(grammar, tokenize(source, path, 0), path).order());
}

function checkLength(source: string, path: SearchPath, max: number): void {
  if (source.length <= max) return;
  const rule = `has ${source.length} characters, more than the maximum of ${max}`;
  refuseAt(path, { position: max + 1, raw: source.slice(0, 40) }, rule);
}

const comparators: readonly string[] = ["=", "!=", "<", "<=", ">", ">="];
const reserved = new Set(["AND", "OR", "NOT", "IN", "LIKE", "ILIKE", "BETWEEN", "IS", "NULL"]);

class Parser<N, F> {
  private at = 0;
  private conditions = 0;
  constructor(
    private readonly grammar: Grammar<N, F>,
    private readonly tokens: readonly Token[],
    private readonly path: SearchPath,
  ) {}

  get peek(): Token {
    return this.tokens[this.at]!;
  }

  private next(): Token {
    const token = this.peek;
    if (token.type !== "end") this.at += 1;
    return token;
  }

  private refuse(token: Token, rule: string, suggestion?: string): never {
    refuseAt(this.path, token, rule, suggestion);
  }

  private isKeyword(keyword: string, token = this.peek): boolean {
    return token.type === "word" && token.raw.toUpperCase() === keyword;
  }

  private takeKeyword(keyword: string): boolean {
    if (!this.isKeyword(keyword)) return false;
    this.at += 1;
    return true;
  }

  private expect(raw: string, rule: string): void {
    const token = this.next();
    if (token.type !== "punctuation" || token.raw !== raw) this.refuse(token, rule);
  }

  end(expected: string): void {
    const token = this.peek;
    if (token.type === "end") return;
    const suggestion = token.raw === ")" ? "there is one ) too many" : undefined;
    this.refuse(token, `${expected} was expected`, suggestion);
  }

  /** AND may be missing or repeated. */
  conditionList(): Expression<F> {
    const operands: Expression<F>[] = [];
    do {
      while (this.takeKeyword("AND"));
      if (this.peek.type !== "end") operands.push(this.condition());
    } while (this.peek.type !== "end");
    return { type: "and", operands };
  }

  disjunction(depth: number): Expression<F> {
    const operands = [this.conjunction(depth)];
    while (this.takeKeyword("OR")) operands.push(this.conjunction(depth));
    return operands.length === 1 ? operands[0]! : { type: "or", operands };
  }

  private conjunction(depth: number): Expression<F> {
    const operands = [this.negation(depth)];
    while (this.takeKeyword("AND")) operands.push(this.negation(depth));
    return operands.length === 1 ? operands[0]! : { type: "and", operands };
  }

  private negation(depth: number): Expression<F> {
    const { depth: maxDepth } = this.grammar.limits;
    if (depth > maxDepth) {
      this.refuse(this.peek, `is nested ${depth} levels deep, but a filter may have at most ${maxDepth} levels`);
    }
    if (this.takeKeyword("NOT")) return { type: "not", operand: this.negation(depth + 1) };
    if (this.peek.type === "punctuation" && this.peek.raw === "(") {
      this.next();
      const inner = this.disjunction(depth + 1);
      this.expect(")", "AND, OR or a closing parenthesis was expected");
      return inner;
    }
    return this.condition();
  }

  private condition(): Condition<F> {
    this.conditions += 1;
    const { limits, condition } = this.grammar;
    if (this.conditions > limits.conditions) {
      this.refuse(
        this.peek,
        `is condition ${this.conditions}, but a filter may have at most ${limits.conditions} conditions`,
      );
    }
    const field = this.field();
    const token = this.peek;
    if (token.type === "operator") {
      this.next();
      if (!comparators.includes(token.raw)) {
        this.refuse(token, "is not a comparison", token.raw === "==" ? "write =" : "write !=");
      }
      return condition(field, { name: token.raw as Comparator, negated: false, token }, [this.value()]);
    }
    if (this.takeKeyword("IS")) {
      const negated = this.takeKeyword("NOT");
      if (!this.takeKeyword("NULL")) this.refuse(this.peek, "stands where NULL or NOT NULL must be");
      return condition(field, { name: "IS NULL", negated, token }, []);
    }
    const negated = this.takeKeyword("NOT");
    if (this.takeKeyword("IN")) return condition(field, { name: "IN", negated, token }, this.list());
    if (this.takeKeyword("BETWEEN")) {
      const low = this.value();
      if (!this.takeKeyword("AND")) this.refuse(this.peek, "the AND of BETWEEN was expected");
      return condition(field, { name: "BETWEEN", negated, token }, [low, this.value()]);
    }
    for (const name of ["LIKE", "ILIKE"] as const) {
      if (this.takeKeyword(name)) return condition(field, { name, negated, token }, [this.value()]);
    }
    return this.refuse(
      this.peek,
      "a comparison was expected: =, !=, <, <=, >, >=, IN, LIKE, ILIKE, BETWEEN or IS NULL",
    );
  }

  private list(): readonly Token[] {
    this.expect("(", "the ( of IN was expected");
    const { listLength } = this.grammar.limits;
    const values = [this.value()];
    while (this.peek.raw === "," && this.peek.type === "punctuation") {
      this.next();
      // Python writes a tuple with one element as `('a',)`.
      if (this.isClosing()) break;
      values.push(this.value());
      if (values.length > listLength) {
        this.refuse(values.at(-1)!, `is value ${values.length} of IN, which takes at most ${listLength} values`);
      }
    }
    this.expect(")", "a comma or the ) of IN was expected");
    return values;
  }

  private isClosing(): boolean {
    return this.peek.type === "punctuation" && this.peek.raw === ")";
  }

  /** Parses a literal or a name. The language decides whether it fits the field. */
  private value(): Token {
    const token = this.next();
    const isValue = token.type !== "end" && token.type !== "punctuation" && token.type !== "operator";
    return isValue ? token : this.refuse(token, "a value was expected");
  }

  private field(): N {
    const token = this.peek;
    const name = this.grammar.functions.find((one) => this.isKeyword(one.toUpperCase()));
    const following = this.tokens[this.at + 1];
    if (name !== undefined && following?.raw === "(" && following.type === "punctuation") {
      this.at += 2;
      const field = this.grammar.applied(name, this.name(), this.placeOf(token));
      this.expect(")", `the ) of ${name}( was expected`);
      return field;
    }
    return this.name();
  }

  private placeOf({ position, raw }: Token): Place {
    return { path: this.path, position, raw };
  }

  private name(): N {
    const first = this.next();
    const isName = first.type === "word" || first.type === "quoted-name";
    if (!isName || (first.type === "word" && reserved.has(first.raw.toUpperCase()) && this.peek.raw !== ".")) {
      this.refuse(first, "a field was expected, such as metrics.loss, params.depth or status");
    }
    const parts: NamedPart[] = [{ value: first.value, quoted: first.type === "quoted-name" }];
    let raw = first.raw;
    while (this.peek.type === "punctuation" && this.peek.raw === "." && this.peek.glued) {
      this.next();
      const part = this.peek;
      if (!part.glued || (part.type !== "word" && part.type !== "quoted-name")) {
        this.refuse(part, `the name after ${raw}. was expected`);
      }
      this.next();
      parts.push({ value: part.value, quoted: part.type === "quoted-name" });
      raw += `.${part.raw}`;
    }
    return this.grammar.field(parts, { path: this.path, position: first.position, raw });
  }

  order(): readonly OrderTerm<F>[] {
    const terms: OrderTerm<F>[] = [];
    do {
      const start = this.peek;
      const field = this.grammar.ordered(this.field(), this.placeOf(start));
      const descending = this.takeKeyword("DESC");
      if (!descending) this.takeKeyword("ASC");
      terms.push({ field, ascending: !descending });
    } while (this.peek.raw === "," && this.next().raw === ",");
    this.end("ASC, DESC, a comma or the end");
    return terms;
  }
}
