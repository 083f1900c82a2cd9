/** Comparisons of which SQL allows no chain, such as 0 < x < 1. */
const comparisons = ["=", "<>", "!=", "<", "<=", ">", ">="];
const constants = ["TRUE", "FALSE", "NULL"];

class GrammarError extends Error {}

/**
 * Finds where tokens are no SQL expression, such as an operator without a value. It refuses nothing that DuckDB
 * evaluates; of rare errors it does not know all.
 *
 * @param tokens columns and texts in quotes, numbers, functions in small letters, keywords in capitals, operators
 * @returns a rule (`must …`); `undefined` if nothing is wrong
 */
export function grammarProblem(tokens: readonly string[]): string | undefined {
  const reader = new Reader(tokens);
  try {
    reader.expression();
    if (!reader.isAtEnd) reader.fail("an operator");
    return undefined;
  } catch (error) {
    if (error instanceof GrammarError) return error.message;
    throw error;
  }
}

/** Reads tokens by recursive descent. Each method reads one part of the grammar. */
class Reader {
  private at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  get isAtEnd(): boolean {
    return this.at === this.tokens.length;
  }

  /** Reads values with operators between them, up to a token that continues none. */
  expression(): void {
    this.operand();
    let isCompared = false;
    for (;;) {
      const token = this.tokens[this.at] ?? "";
      const isNegated = this.takes("NOT");
      let isScope = false;
      if (this.takes("BETWEEN")) isScope = this.between();
      else if (this.takes("IN", "LIKE", "ILIKE")) isScope = this.operand();
      else if (isNegated) {
        if (this.takes("NULL")) continue;
        this.at -= 1;
        this.fail("an operator");
      } else if (this.takes("IS")) isScope = this.test();
      else if (this.takes("AND", "OR")) {
        this.operand();
        isScope = true;
      } else if (isOperator(token)) {
        const compares = comparisons.includes(token);
        if (compares && isCompared) this.fail("AND or OR");
        this.at += 1;
        isScope = this.operand();
        isCompared ||= compares;
      } else return;
      if (isScope) isCompared = false;
    }
  }

  fail(expected: string): never {
    const [before, token] = [this.tokens[this.at - 1], this.tokens[this.at]];
    const place = token === undefined ? `after ${before}` : `before ${token}`;
    throw new GrammarError(`must have ${expected} ${place}`);
  }

  /** Reads a value with the signs in front of it. Returns whether one is NOT, which applies to all up to AND or OR. */
  private operand(): boolean {
    const first = this.at;
    while (this.takes("NOT", "-", "+"));
    const isNot = this.tokens.slice(first, this.at).includes("NOT");
    const token = this.tokens[this.at] ?? "";
    if (/^["'\d]/.test(token) || constants.includes(token)) this.at += 1;
    // A word before a text that makes it a time, and a function before its parenthesis.
    else if (["TIMESTAMP", "DATE", "INTERVAL"].includes(token)) this.at += 2;
    else if (/^[a-z]/.test(token)) {
      this.at += 2;
      if (!this.takes(")")) this.list();
    } else if (this.takes("(")) this.list();
    else if (this.takes("CASE")) this.cases();
    else this.fail("a value");
    return isNot;
  }

  private list(): void {
    do this.expression();
    while (this.takes(","));
    if (!this.takes(")")) this.fail("an operator");
  }

  private cases(): void {
    if (this.tokens[this.at] !== "WHEN") this.expression();
    this.needs("WHEN");
    do {
      this.expression();
      this.needs("THEN");
      this.expression();
    } while (this.takes("WHEN"));
    if (this.takes("ELSE")) this.expression();
    this.needs("END");
  }

  /** Reads what follows IS. Returns whether a comparison may follow. */
  private test(): boolean {
    this.takes("NOT");
    if (this.takes(...constants)) return true;
    if (!this.takes("DISTINCT")) this.fail("NULL, TRUE, FALSE or DISTINCT FROM");
    this.needs("FROM");
    return this.operand();
  }

  /** Reads what follows BETWEEN. Its first value ends at AND. */
  private between(): boolean {
    this.operand();
    for (;;) {
      const token = this.tokens[this.at] ?? "";
      if (this.takes("IS")) this.test();
      else if (isOperator(token)) {
        this.at += 1;
        this.operand();
      } else break;
    }
    this.needs("AND");
    return this.operand();
  }

  private needs(token: string): void {
    if (!this.takes(token)) this.fail(token);
  }

  private takes(...tokens: readonly string[]): boolean {
    const found = tokens.includes(this.tokens[this.at] ?? "");
    if (found) this.at += 1;
    return found;
  }
}

function isOperator(token: string): boolean {
  return /^[-+*/%=<>!|]/.test(token);
}
