import type * as z from "zod";

export function draws(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

const badValues = [
  ...["null", "true", "{}", "[]", '"text"', '""', "-1", "0.5", "1e308", "-1e308", "1e-200", "1e999"],
  ...['{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":1}}', '[{"evil":true}]'],
  `"${"x".repeat(400_000)}"`,
  "[".repeat(10_000) + "]".repeat(10_000),
];

const badTexts = [
  "",
  "{",
  "null",
  "[]",
  "7",
  '"text"',
  '{"evil":true}',
  '{"__proto__":{}}',
  "\u0000",
  "[".repeat(100_000),
];

/**
 * Generates texts that a schema refuses: valid documents of which one value, at any depth, is replaced, removed or added.
 * Equal seeds give equal texts.
 */
export function malformed(schema: z.ZodType, valid: unknown, amount: number, seed: number): readonly string[] {
  const draw = draws(seed);
  const texts = badTexts.slice(0, amount);
  while (texts.length < amount) {
    const text = mutated(valid, draw);
    if (!isAccepted(schema, text) && !texts.includes(text)) texts.push(text);
  }
  return texts;
}

function isAccepted(schema: z.ZodType, text: string): boolean {
  return schema.safeParse(JSON.parse(text)).success;
}

const mark = "the value to replace";

function mutated(valid: unknown, draw: (limit: number) => number): string {
  const copy = structuredClone(valid) as Record<string, unknown>;
  let at = copy;
  for (;;) {
    const keys = Object.keys(at);
    const key = keys[draw(keys.length)]!;
    const value = at[key];
    const isNested = typeof value === "object" && value !== null && Object.keys(value).length > 0;
    if (isNested && draw(3) > 0) {
      at = value as Record<string, unknown>;
      continue;
    }
    if (draw(6) === 0) delete at[key];
    else at[key] = mark;
    return JSON.stringify(copy).replace(JSON.stringify(mark), () => badValues[draw(badValues.length)]!);
  }
}
