import { refuseAt, type SearchPath } from "./errors";

export type Token = {
  readonly raw: string;
  /** Without its quotes. */
  readonly value: string;
  /** Position of the first character, from 1. */
  readonly position: number;
  /** Whether the token directly follows the previous one. */
  readonly glued: boolean;
} & (
  | { readonly type: "word" | "quoted-name" | "text" | "operator" | "punctuation" | "end" }
  /** A time is relative to now. Its number is in milliseconds since the epoch. */
  | { readonly type: "number" | "time"; readonly number: number }
);

/** Milliseconds. Months and years are omitted, because their length varies. */
const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Matches `now`, `now-7d`, `now - 1d - 12h`, `now+1.5h`. */
const timePattern = /now(?:\s*[+-]\s*\d{1,9}(?:\.\d{1,9})?[smhdw])*(?![\p{L}\p{N}_/:@$#.+-])/iuy;

export const timeHint =
  "write now-7d: now, + or -, a number, and s, m, h, d or w for seconds, minutes, hours, days or weeks";

/** Converts a relative time to milliseconds since the epoch. */
function relativeTime(text: string, now: number): number {
  let time = now;
  for (const [, sign, count, unit] of text.matchAll(/([+-])\s*([\d.]+)([smhdw])/gi)) {
    time += (sign === "-" ? -1 : 1) * Number(count) * units[unit!.toLowerCase()]!;
  }
  return Math.round(time);
}

const patterns = {
  space: /\s+/y,
  number: /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_/@$#-])/uy,
  // A part of a name: metrics are called `train/loss`, `top-5`, `system/worker-0/rss`.
  word: /[\p{L}\p{N}_][\p{L}\p{N}_/:@$#-]*/uy,
  operator: /<=|>=|!=|<>|==|=|<|>/y,
  punctuation: /[(),.]/y,
};

/**
 * Splits a filter or an order into tokens.
 * @param now milliseconds since the epoch
 * @throws SearchSyntaxError
 */
export function tokenize(source: string, path: SearchPath, now: number): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let end = -1;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const add = (token: {
    readonly type: Exclude<Token["type"], "number" | "time">;
    raw: string;
    value: string;
  }): void => {
    tokens.push({ ...token, position: at + 1, glued: end === at });
    at += token.raw.length;
    end = at;
  };
  while (at < source.length) {
    const space = take(patterns.space);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const character = source[at]!;
    if (character === "'" || character === '"' || character === "`") {
      const { raw, value } = quoted(source, at, path);
      // After a dot a quoted text is a name: `metrics."a b"`.
      const isName = character === "`" || (tokens.at(-1)?.raw === "." && end === at);
      add({ type: isName ? "quoted-name" : "text", raw, value });
      continue;
    }
    // `metrics.5` is a name; `>.5` is not.
    const before = end === at ? tokens.at(-1) : undefined;
    const inName = before?.raw === "." || before?.type === "word" || before?.type === "quoted-name";
    const time = inName ? undefined : take(timePattern);
    const number = inName ? undefined : (time ?? take(patterns.number));
    if (number !== undefined) {
      tokens.push({
        type: time === undefined ? "number" : "time",
        raw: number,
        value: number,
        number: time === undefined ? Number(number) : relativeTime(time, now),
        position: at + 1,
        glued: end === at,
      });
      at += number.length;
      end = at;
      continue;
    }
    const word = take(patterns.word);
    const operator = word === undefined ? take(patterns.operator) : undefined;
    const punctuation = operator === undefined && word === undefined ? take(patterns.punctuation) : undefined;
    if (word !== undefined) add({ type: "word", raw: word, value: word });
    else if (operator !== undefined) add({ type: "operator", raw: operator, value: operator });
    else if (punctuation !== undefined) add({ type: "punctuation", raw: punctuation, value: punctuation });
    else {
      const raw = String.fromCodePoint(source.codePointAt(at)!);
      const nameHint = "put names with other characters in backticks: metrics.`my metric!`";
      const hint = tokens.at(-1)?.type === "time" ? timeHint : nameHint;
      refuseAt(path, { position: at + 1, raw }, "is not part of the search language", hint);
    }
  }
  tokens.push({ type: "end", raw: "", value: "", position: source.length + 1, glued: false });
  return tokens;
}

/** Reads a quoted text; a quote inside is written twice. */
function quoted(source: string, start: number, path: SearchPath): { readonly raw: string; readonly value: string } {
  const quote = source[start]!;
  let at = start + 1;
  let value = "";
  for (;;) {
    const next = source.indexOf(quote, at);
    if (next === -1) {
      const at = { position: start + 1, raw: source.slice(start, start + 40) };
      const hint = `close it with ${quote}; inside it, write ${quote}${quote} for ${quote}`;
      return refuseAt(path, at, `starts with ${quote}, which is not closed`, hint);
    }
    value += source.slice(at, next);
    if (source[next + 1] !== quote) return { raw: source.slice(start, next + 1), value };
    value += quote;
    at = next + 2;
  }
}
