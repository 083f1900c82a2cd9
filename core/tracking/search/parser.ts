import { comparison, inList, likeCondition, range } from "./conditions";
import { pointingInto, SearchSyntaxError } from "./errors";
import type { Comparator, Expression, Field, OrderTerm } from "./expression";
import { metricAspects, type NamedPart, resolveField } from "./fields";
import { momentHint } from "./moments";
import { type Token, tokenize } from "./tokens";

/** What one search may ask for: a filter costs what it says, on every run. */
export const searchLimits = {
  filterLength: 16_384,
  depth: 32,
  conditions: 200,
  listLength: 1_000,
  orderTerms: 8,
} as const;

/**
 * A filter of our dialect, by recursive descent:
 *
 *     or        := and (OR and)*
 *     and       := not (AND not)*
 *     not       := NOT not | '(' or ')' | condition
 *     condition := field (comparator value | [NOT] IN '(' value, … ')' | [NOT] LIKE text | [NOT] ILIKE text
 *                         | [NOT] BETWEEN value AND value | IS [NOT] NULL)
 *     field     := name | ('min' | 'max' | 'last' | 'step') '(' name ')'
 *
 * `undefined` where the filter is empty: every run.
 *
 * @param now milliseconds since the epoch: what `now-7d` is counted from @throws SearchSyntaxError
 */
export function parseFilter(source: string, now: number): Expression | undefined {
  checkLength(source, "filter");
  return pointingInto(source, () => {
    const parser = new Parser(tokenize(source, "filter", now), "filter");
    if (parser.peek.type === "end") return undefined;
    const expression = parser.disjunction(0);
    parser.end("AND, OR or the end");
    return expression;
  });
}

/** `metrics.val_loss ASC, params.depth`: terms of all the texts, in order. @throws SearchSyntaxError */
export function parseOrder(sources: readonly string[]): readonly OrderTerm[] {
  const terms = sources.flatMap((source) => {
    checkLength(source, "orderBy");
    return pointingInto(source, () => new Parser(tokenize(source, "orderBy", 0), "orderBy").order());
  });
  if (terms.length > searchLimits.orderTerms) {
    const rule = `has ${terms.length} terms, more than the maximum of ${searchLimits.orderTerms}`;
    throw new SearchSyntaxError("orderBy", { position: 1, token: sources[0]!.slice(0, 40), rule });
  }
  return terms;
}

function checkLength(source: string, path: "filter" | "orderBy"): void {
  if (source.length <= searchLimits.filterLength) return;
  throw new SearchSyntaxError(path, {
    position: searchLimits.filterLength + 1,
    token: source.slice(0, 40),
    rule: `has ${source.length} characters, more than the maximum of ${searchLimits.filterLength}`,
  });
}

const comparators: readonly string[] = ["=", "!=", "<", "<=", ">", ">="];
const reserved = new Set(["AND", "OR", "NOT", "IN", "LIKE", "ILIKE", "BETWEEN", "IS", "NULL"]);

class Parser {
  private at = 0;
  private conditions = 0;
  constructor(
    private readonly tokens: readonly Token[],
    private readonly path: "filter" | "orderBy",
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
    throw new SearchSyntaxError(this.path, {
      position: token.position,
      token: token.raw,
      rule,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
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

  disjunction(depth: number): Expression {
    const operands = [this.conjunction(depth)];
    while (this.takeKeyword("OR")) operands.push(this.conjunction(depth));
    return operands.length === 1 ? operands[0]! : { type: "or", operands };
  }

  private conjunction(depth: number): Expression {
    const operands = [this.negation(depth)];
    while (this.takeKeyword("AND")) operands.push(this.negation(depth));
    return operands.length === 1 ? operands[0]! : { type: "and", operands };
  }

  private negation(depth: number): Expression {
    if (depth > searchLimits.depth) {
      this.refuse(
        this.peek,
        `is nested ${depth} levels deep, but a filter may have at most ${searchLimits.depth} levels`,
      );
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

  private condition(): Expression {
    this.conditions += 1;
    if (this.conditions > searchLimits.conditions) {
      this.refuse(
        this.peek,
        `is condition ${this.conditions}, but a filter may have at most ${searchLimits.conditions} conditions`,
      );
    }
    const field = this.field();
    const operator = this.peek;
    if (operator.type === "operator") {
      this.next();
      if (!comparators.includes(operator.raw)) {
        this.refuse(operator, "is not a comparison", operator.raw === "==" ? "write =" : "write !=");
      }
      return comparison(field, operator.raw as Comparator, this.value());
    }
    if (this.takeKeyword("IS")) {
      const negated = this.takeKeyword("NOT");
      if (!this.takeKeyword("NULL")) this.refuse(this.peek, "stands where NULL or NOT NULL must be");
      return { type: "null", field, negated };
    }
    const negated = this.takeKeyword("NOT");
    if (this.takeKeyword("IN")) return inList(field, negated, this.list());
    if (this.takeKeyword("BETWEEN")) {
      const low = this.value();
      if (!this.takeKeyword("AND")) this.refuse(this.peek, "the AND of BETWEEN was expected");
      return range(field, negated, low, this.value());
    }
    for (const keyword of ["LIKE", "ILIKE"]) {
      if (this.takeKeyword(keyword)) return likeCondition(field, negated, keyword === "ILIKE", this.value());
    }
    return this.refuse(
      this.peek,
      "a comparison was expected: =, !=, <, <=, >, >=, IN, LIKE, ILIKE, BETWEEN or IS NULL",
    );
  }

  private list(): readonly Token[] {
    this.expect("(", "the ( of IN was expected");
    const values = [this.value()];
    while (this.peek.raw === "," && this.peek.type === "punctuation") {
      this.next();
      values.push(this.value());
      if (values.length > searchLimits.listLength) {
        this.refuse(
          values.at(-1)!,
          `is value ${values.length} of IN, which takes at most ${searchLimits.listLength} values`,
        );
      }
    }
    this.expect(")", "a comma or the ) of IN was expected");
    return values;
  }

  /** A literal; what it may be depends on the field. */
  private value(): Token {
    const token = this.next();
    if (token.type === "number" || token.type === "moment" || token.type === "text") return token;
    if (token.type === "word" && /^(?:true|false|nan|inf|infinity)$/i.test(token.raw)) return token;
    const isName = token.type === "word" || token.type === "quoted-name";
    if (/^now\b/i.test(token.raw)) this.refuse(token, "is not a time", momentHint);
    return this.refuse(
      token,
      "a value was expected",
      isName && token.raw[0] !== "`" ? `put text in quotes: '${token.raw}'` : undefined,
    );
  }

  private field(): Field {
    const token = this.peek;
    const aspect = metricAspects.find((one) => this.isKeyword(one.toUpperCase()));
    const following = this.tokens[this.at + 1];
    if (aspect !== undefined && following?.raw === "(" && following.type === "punctuation") {
      this.at += 2;
      const field = this.name();
      if (field.kind !== "metric") this.refuse(token, `can be used only with metrics, as in ${aspect}(metrics.loss)`);
      this.expect(")", `the ) of ${aspect}( was expected`);
      return { ...field, aspect };
    }
    return this.name();
  }

  private name(): Field {
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
    return resolveField(parts, { path: this.path, position: first.position, raw });
  }

  order(): readonly OrderTerm[] {
    const terms: OrderTerm[] = [];
    do {
      const start = this.peek;
      const field = this.field();
      if (field.kind === "dataset") this.refuse(start, "cannot be used for the order: a run may have several datasets");
      const descending = this.takeKeyword("DESC");
      if (!descending) this.takeKeyword("ASC");
      terms.push({ field, ascending: !descending });
    } while (this.peek.raw === "," && this.next().raw === ",");
    this.end("ASC, DESC, a comma or the end");
    return terms;
  }
}
