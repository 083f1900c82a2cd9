export interface MlflowToken {
  readonly kind:
    | "identifier"
    | "text"
    | "integer"
    | "float"
    | "list"
    | "expression"
    | "comparator"
    | "keyword"
    | "other";
  readonly raw: string;
}

const keywords = new Set(["AND", "OR", "NOT", "IN", "IS", "NULL", "BETWEEN", "LIKE", "ILIKE", "RLIKE"]);

const patterns = {
  space: /\s+/y,
  comment: /(?:--|# )[^\r\n]*/y,
  backtick: /`(?:``|[^`])*`/y,
  hexadecimal: /-?0x[\da-f]+/iy,
  exponent: /-?\d+(?:\.\d+)?e-?\d+/iy,
  // In sqlparse's float a digit may be missing on either side of the dot.
  float: /-?(?:\d+\.\d*|\.\d+)(?![_a-zà-ü])/iy,
  integer: /-?\d+(?![_a-zà-ü])/iy,
  text: /'(?:''|\\'|[^'])*'/y,
  symbol: /"(?:""|\\"|[^"])*"/y,
  like: /(?:NOT\s+)?(?:LIKE|ILIKE|RLIKE)(?![\p{L}\p{N}_])/iuy,
  word: /[\p{L}\p{N}_][\p{L}\p{N}_$#]*/uy,
  placeholder: /\?|(?<![\p{L}\p{N}_])[$:?][\p{L}\p{N}_]+/uy,
  comparator: /[<>=~!]+/y,
  arithmetic: /[-+*/@#%^&|]+/y,
};

interface Located extends MlflowToken {
  readonly start: number;
  readonly end: number;
  readonly arithmetic?: true;
  readonly open?: true;
  readonly close?: true;
}

/** What sqlparse makes of a filter, as far as MLflow looks at it. */
export function mlflowTokens(source: string): readonly MlflowToken[] {
  return groupOperations(source, groupLists(source, lex(source)));
}

/** What may stand on either side of a comparison, for sqlparse. */
export function isValueLike({ kind }: MlflowToken): boolean {
  return kind !== "comparator" && kind !== "keyword" && kind !== "other";
}

function lex(source: string): readonly Located[] {
  const tokens: Located[] = [];
  let at = 0;
  const match = (pattern: RegExp, from = at): string | undefined => {
    pattern.lastIndex = from;
    return pattern.exec(source)?.[0];
  };
  const add = (kind: MlflowToken["kind"], raw: string, marks: Partial<Located> = {}): void => {
    tokens.push({ kind, raw, start: at, end: at + raw.length, ...marks });
    at += raw.length;
  };
  /** One part of a name, without dots. */
  const part = (from: number): string | undefined =>
    match(patterns.backtick, from) ?? match(patterns.symbol, from) ?? match(patterns.word, from);

  while (at < source.length) {
    const space = match(patterns.space);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const comment = match(patterns.comment);
    const number =
      match(patterns.hexadecimal) ?? match(patterns.exponent) ?? match(patterns.float) ?? match(patterns.integer);
    const text = match(patterns.text);
    const placeholder = match(patterns.placeholder);
    const like = match(patterns.like);
    const name = part(at);
    const comparator = match(patterns.comparator);
    const arithmetic = match(patterns.arithmetic);
    if (comment !== undefined) add("other", comment);
    else if (number !== undefined) {
      const kind = /^-?0x/i.test(number) ? "other" : /^-?\d+$/.test(number) ? "integer" : "float";
      add(kind, number);
    } else if (text !== undefined) add("text", text);
    else if (placeholder !== undefined) add("expression", placeholder);
    else if (like !== undefined && source[at + like.length] !== ".") add("comparator", like);
    else if (name !== undefined) {
      const whole = source.slice(at, chainEnd(at + name.length));
      add(whole === name && keywords.has(name.toUpperCase()) ? "keyword" : "identifier", whole);
    } else if (comparator !== undefined) add("comparator", comparator);
    else if (arithmetic !== undefined) add("other", arithmetic, { arithmetic: true });
    else if (source[at] === "(") add("other", "(", { open: true });
    else if (source[at] === ")") add("other", ")", { close: true });
    else add("other", String.fromCodePoint(source.codePointAt(at)!));
  }
  return tokens;

  /** Where a name with all its dotted parts ends; white space after a dot belongs to it. */
  function chainEnd(from: number): number {
    let end = from;
    while (source[end] === "." && match(patterns.float, end) === undefined) {
      const after = end + 1 + (match(patterns.space, end + 1)?.length ?? 0);
      const next = part(after) ?? match(patterns.text, after);
      if (next === undefined) break;
      end = after + next.length;
    }
    return end;
  }
}

function groupLists(source: string, tokens: readonly Located[]): readonly Located[] {
  const grouped: Located[] = [];
  const opened: number[] = [];
  for (const token of tokens) {
    if (token.close && opened.length > 0) {
      const from = opened.pop()!;
      const start = grouped[from]!.start;
      const list: Located = { kind: "list", raw: source.slice(start, token.end), start, end: token.end };
      grouped.splice(from, grouped.length - from, list);
      continue;
    }
    if (token.open) opened.push(grouped.length);
    grouped.push(token);
  }
  return grouped;
}

/** `metrics.a-b` is a subtraction, and `f(x)` a call: no identifiers. */
function groupOperations(source: string, tokens: readonly Located[]): readonly Located[] {
  const grouped: Located[] = [];
  for (let at = 0; at < tokens.length; at++) {
    let token = tokens[at]!;
    const join = (to: Located): void => {
      token = { kind: "expression", raw: source.slice(token.start, to.end), start: token.start, end: to.end };
    };
    const call = tokens[at + 1];
    if (token.kind === "identifier" && call?.kind === "list" && call.start === token.end) {
      join(call);
      at += 1;
    }
    while (isValueLike(token) && tokens[at + 1]?.arithmetic && tokens[at + 2] && isValueLike(tokens[at + 2]!)) {
      join(tokens[at + 2]!);
      at += 2;
    }
    grouped.push(token);
  }
  return grouped;
}
