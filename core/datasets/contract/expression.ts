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
function grammarProblem(tokens: readonly string[]): string | undefined {
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

class Reader {
  private at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  get isAtEnd(): boolean {
    return this.at === this.tokens.length;
  }

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
    const isNext = tokens.includes(this.tokens[this.at] ?? "");
    if (isNext) this.at += 1;
    return isNext;
  }
}

function isOperator(token: string): boolean {
  return /^[-+*/%=<>!|]/.test(token);
}

/** Thrown for an expression that a contract may not have; the message is a rule: `must …`. */
export class ExpressionError extends Error {}

/** A part of an expression: a column's name, or text of SQL that is used as it is. */
export type ExpressionPart = { readonly column: string } | { readonly text: string };

const keywords = new Set(
  "AND OR NOT IN IS NULL BETWEEN LIKE ILIKE CASE WHEN THEN ELSE END TRUE FALSE DISTINCT FROM".split(" "),
);
/** Words before a text that make it a time. */
const literals = new Set(["TIMESTAMP", "DATE", "INTERVAL"]);

/** Functions of a row's values alone. None of them reads a file, a setting or another table, or makes a text much longer. */
const functions = new Set(
  (
    "abs ceil floor round trunc sqrt cbrt exp ln log2 log10 power pow sign mod least greatest coalesce nullif isnan isfinite isinf " +
    "length strlen lower upper trim ltrim rtrim substr substring left right starts_with ends_with prefix suffix contains strpos " +
    "concat reverse regexp_full_match regexp_matches regexp_extract levenshtein " +
    "year month day hour minute second quarter week dayofweek isodow dayofyear date_diff date_trunc date_part epoch epoch_ms " +
    "len list_min list_max list_sum list_avg list_contains"
  ).split(" "),
);

const operators = new Set(["+", "-", "*", "/", "%", "=", "==", "<>", "!=", "<", "<=", ">", ">=", "||"]);

const token =
  /\s+|(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))|(?<text>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")+")|(?<word>[A-Za-z_]\w*)|(?<punctuation>[(),])|(?<operator>[-+*/%=<>!|]+)/uy;

/**
 * Reads an SQL expression over the columns of a row. Only listed words, functions and operators are accepted: no query
 * (`SELECT`), no other table, no file, no statement.
 *
 * @throws ExpressionError
 */
export function readExpression(text: string): readonly ExpressionPart[] {
  const parts: ExpressionPart[] = [];
  const tokens = tokensOf(text);
  let depth = 0;
  for (const [index, { kind, value }] of tokens.entries()) {
    const next = tokens[index + 1];
    if (kind === "punctuation") {
      depth += value === "(" ? 1 : value === ")" ? -1 : 0;
      if (depth < 0) throw new ExpressionError("must have an opening parenthesis for each closing one");
      if (value === "," && depth === 0) throw new ExpressionError("must be one expression, without a comma between");
    }
    if (kind === "quoted") parts.push({ column: value.slice(1, -1).replaceAll('""', '"') });
    else if (kind === "word") parts.push(wordPart(value, next, tokens[index - 1]));
    else if (kind === "operator") parts.push({ text: operatorText(value) });
    else parts.push({ text: value });
  }
  if (depth > 0) throw new ExpressionError("must have a closing parenthesis for each opening one");
  if (parts.length === 0) throw new ExpressionError("must not be empty");
  return parts;
}

/** Returns what is wrong with an expression, `must …`; `undefined` if nothing is. A stored one is only read. */
export function expressionProblem(text: string): string | undefined {
  try {
    const tokens = readExpression(text).flatMap((part) => {
      if ("column" in part) return [JSON.stringify(part.column)];
      // The operator of `x=-1` is one part with its sign.
      return part.text.startsWith("'") ? [part.text] : part.text.split(" ");
    });
    return grammarProblem(tokens);
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

export function expressionColumns(parts: readonly ExpressionPart[]): readonly string[] {
  return [...new Set(parts.flatMap((part) => ("column" in part ? [part.column] : [])))];
}

interface Token {
  readonly kind: string;
  readonly value: string;
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (match === null) {
      throw new ExpressionError(
        `must be an SQL expression over the row's columns, and ${JSON.stringify(text.slice(at, at + 10))} is no part of one`,
      );
    }
    at = token.lastIndex;
    for (const [kind, value] of Object.entries(match.groups ?? {}))
      if (value !== undefined) tokens.push({ kind, value });
  }
  return tokens;
}

function wordPart(word: string, next: Token | undefined, before: Token | undefined): ExpressionPart {
  const upper = word.toUpperCase();
  if (next?.value === "(" && !keywords.has(upper)) {
    if (functions.has(word.toLowerCase())) return { text: word.toLowerCase() };
    throw new ExpressionError(`must not call ${word}: a contract may call ${[...functions].sort().join(", ")}`);
  }
  if (upper === "SELECT") throw new ExpressionError("must not have a query (SELECT): it sees the columns of one row");
  if (literals.has(upper) && next?.kind === "text") return { text: upper };
  if (!keywords.has(upper)) return { column: word };
  const earlier = before?.value.toUpperCase();
  const isMisplaced =
    (upper === "FROM" && earlier !== "DISTINCT") || (upper === "DISTINCT" && earlier !== "IS" && earlier !== "NOT");
  if (isMisplaced) throw new ExpressionError(`must not have ${upper}, except in IS DISTINCT FROM`);
  return { text: upper };
}

/** A minus sign may follow another operator: `x = -1`, also written `x=-1`. */
function operatorText(run: string): string {
  if (operators.has(run)) return run;
  const first = run.slice(0, -1);
  if (run.endsWith("-") && first !== "-" && operators.has(first)) return `${first} -`;
  throw new ExpressionError(`must not have the operator ${run}`);
}
