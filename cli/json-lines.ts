import { readFileSync } from "node:fs";
import type * as z from "zod";
import { InvalidInputError, type Problem } from "../core/errors";
import { documentLimits, JsonLimitError, parseJson } from "../core/json-text";
import { problemsOf } from "../core/problems";
import { invalidOption } from "./command";

/** Reads a JSON list, or one JSON value on each line. Reports all invalid lines, and sends nothing if there are any. */
export function readLines<Item>(file: string, schema: z.ZodType<Item>): readonly Item[] {
  const text = textOf(file);
  const whole = text.trimStart().startsWith("[");
  const read: readonly (readonly [number, Parsed])[] = whole
    ? listOf(file, text).map((value, at) => [at + 1, { value }])
    : text.split("\n").flatMap((line, at) => (line.trim() === "" ? [] : [[at + 1, parsed(line)] as const]));
  const problems: Problem[] = [];
  const items: Item[] = [];
  for (const [number, { value, rule }] of read) {
    const result = schema.safeParse(value, { reportInput: true });
    if (rule !== undefined) problems.push({ path: `line ${number}`, rule });
    else if (result.success) items.push(result.data);
    else problems.push(...problemsOf(result.error).map((problem) => placed(problem, number, whole)));
  }
  if (problems.length > 0) throw new InvalidInputError(`${file} cannot be reported`, problems.slice(0, 20));
  return items;
}

/** Adds the line, or the number in the list. */
function placed(problem: Problem, number: number, isList: boolean): Problem {
  if (isList) return { ...problem, path: `entry ${number}${problem.path && `: ${problem.path}`}` };
  return problem.path === "" ? { ...problem, path: `line ${number}` } : { ...problem, line: number };
}

function listOf(file: string, text: string): readonly unknown[] {
  const { value, rule } = parsed(text);
  if (Array.isArray(value)) return value;
  throw invalidOption("--file", file, `must be a JSON list, or one JSON object per line${rule ? `: it ${rule}` : ""}`);
}

interface Parsed {
  readonly value?: unknown;
  readonly rule?: string;
}

function parsed(text: string): Parsed {
  try {
    return { value: parseJson(text, documentLimits) };
  } catch (error) {
    return { rule: error instanceof JsonLimitError ? error.rule : "must be JSON" };
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const problem = { path: "--file", value: file, rule: "must be a file that can be read" };
    throw new InvalidInputError("the options are not valid", [problem], cause);
  }
}
