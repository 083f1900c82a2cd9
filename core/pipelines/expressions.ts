import jsonata from "jsonata";
import { pipelineLimits } from "./definition";

/** An expression that cannot be compiled or evaluated. The message says why. */
export class ExpressionError extends Error {}

/** The values that expressions read. */
export interface ExpressionContext {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Output and status of each ended step by its name. */
  readonly steps: Readonly<Record<string, { readonly output: unknown; readonly status: string }>>;
  readonly run: Readonly<Record<string, unknown>>;
  readonly item?: unknown;
  readonly index?: number;
}

const roots = ["parameters", "steps", "run", "item", "index"] as const;
/** Results that differ between two evaluations would make the key of a step useless. */
const refusedFunctions = new Set(["eval", "now", "millis", "random", "shuffle"]);

/** A name after `steps`, with the first field of the output behind it. */
export interface Reference {
  readonly root: (typeof roots)[number];
  readonly name?: string;
  readonly field?: string;
}

/** Limits of one evaluation. */
const [maxMs, maxDepth, maxItems] = [2_000, 200, 100_000];

/** @throws ExpressionError */
function compile(text: string): jsonata.Expression {
  if (text.length > pipelineLimits.expression)
    throw new ExpressionError(`must have at most ${pipelineLimits.expression} characters`);
  try {
    // The options are missing in the package's types.
    const options = { stack: maxDepth, sequence: maxItems } as object;
    return jsonata(text, options);
  } catch (error) {
    throw new ExpressionError(`must be a JSONata expression: ${(error as Error).message}`);
  }
}

interface Node {
  readonly type?: string;
  readonly value?: unknown;
  readonly steps?: readonly Node[];
}

/** Collects what an expression reads. A name that is not at a path's start is a field; in a filter, names are fields of the item. */
function collect(node: unknown, references: Reference[], inner: boolean): void {
  if (typeof node !== "object" || node === null) return;
  const { type, value, steps } = node as Node;
  if (type === "regex" || value instanceof RegExp)
    throw new ExpressionError("must not have a regular expression; $contains and $split take texts");
  if (type === "variable" && refusedFunctions.has(String(value)))
    throw new ExpressionError(`must not use $${value}: an expression must give the same value each time`);
  if (type === "path" && steps) {
    // `$$.steps` is `steps`, also within a filter.
    const atRoot = steps[0]?.type === "variable" && steps[0].value === "$";
    const names = (atRoot ? steps.slice(1) : steps).map((step) =>
      step.type === "name" ? String(step.value) : undefined,
    );
    const [first, name, third, fourth] = names;
    if (first !== undefined && (atRoot || !inner)) {
      const root = roots.find((each) => each === first);
      if (root === undefined)
        throw new ExpressionError(`must begin with ${roots.join(", ")}; ${first} is none of them`);
      references.push({ root, name, field: third === "output" ? fourth : undefined });
    }
    for (const [i, step] of steps.entries())
      collect(
        step.type === "name" ? { ...step, type: undefined } : step,
        references,
        inner || i > 0 || first !== undefined,
      );
    return;
  }
  for (const child of Object.values(node)) collect(child, references, inner);
}

/** Splits a text into its literal parts (even) and its expressions (odd). Braces within an expression must balance. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let at = 0;
  for (let begin = text.indexOf("${"); begin !== -1; begin = text.indexOf("${", at)) {
    let depth = 1;
    let end = begin + 2;
    for (; end < text.length && depth > 0; end += 1) depth += text[end] === "{" ? 1 : text[end] === "}" ? -1 : 0;
    if (depth > 0) throw new ExpressionError("must end with }: its braces do not balance");
    parts.push(text.slice(at, begin), text.slice(begin + 2, end - 1));
    at = end;
  }
  return [...parts, text.slice(at)];
}

/** Returns the expressions in a template's texts, each with its place. @throws ExpressionError */
export function expressionsIn(
  template: unknown,
  path: string,
): readonly { readonly path: string; readonly text: string }[] {
  if (typeof template === "string")
    return partsOf(template).flatMap((text, i) => (i % 2 === 1 ? [{ path, text }] : []));
  if (typeof template !== "object" || template === null) return [];
  return Object.entries(template).flatMap(([key, value]) => expressionsIn(value, path === "" ? key : `${path}.${key}`));
}

/** @throws ExpressionError */
export function referencesOf(text: string): readonly Reference[] {
  const references: Reference[] = [];
  collect(compile(text).ast(), references, false);
  return references;
}

/**
 * Returns a template with the values of its expressions. A text that is one expression becomes its value, of any type;
 * an expression within a text becomes text. Values are data: an expression in one is not evaluated.
 * @throws ExpressionError
 */
export async function evaluate(template: unknown, context: ExpressionContext): Promise<unknown> {
  if (typeof template === "string") {
    const parts = partsOf(template);
    if (parts.length === 3 && parts[0] === "" && parts[2] === "") return evaluateText(parts[1]!, context);
    const texts = parts.map(async (part, i) => {
      if (i % 2 === 0) return part;
      const value = await evaluateText(part, context);
      return typeof value === "string" ? value : JSON.stringify(value ?? null);
    });
    return (await Promise.all(texts)).join("");
  }
  if (typeof template !== "object" || template === null) return template;
  if (Array.isArray(template)) return Promise.all(template.map((each) => evaluate(each, context)));
  const entries = Object.entries(template).map(async ([key, value]) => [key, await evaluate(value, context)] as const);
  return Object.fromEntries((await Promise.all(entries)).filter(([, value]) => value !== undefined));
}

async function evaluateText(text: string, context: ExpressionContext): Promise<unknown> {
  const expression = compile(text);
  const endsAt = performance.now() + maxMs;
  // JSONata's hook for limits of time (docs.jsonata.org/embedding-extending).
  expression.assign(Symbol.for("jsonata.__evaluate_entry") as unknown as string, () => {
    if (performance.now() > endsAt) throw new ExpressionError(`must take at most ${maxMs} ms`);
  });
  try {
    const value: unknown = await expression.evaluate(context);
    // JSONata's sequences have internal flags. A function is no value.
    return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null");
  } catch (error) {
    if (error instanceof ExpressionError) throw new ExpressionError(`\${${text}}: ${error.message}`);
    throw new ExpressionError(`\${${text}}: ${(error as Error).message}`);
  }
}
