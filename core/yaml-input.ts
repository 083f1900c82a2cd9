import { type Document, isMap, isNode, Lexer, LineCounter, type Node, Parser, parse, parseDocument } from "yaml";
import type * as z from "zod";
import { InvalidInputError, type Problem } from "./errors";
import { documentLimits } from "./json-text";
import { issuesOf, pathText, problemsOf } from "./problems";

/** One broken line can give an error for each line after it. */
const maxSyntaxErrors = 10;

/**
 * Reads a YAML (or JSON) file that a person wrote.
 *
 * @param what the file's name in errors: `schema.yaml`
 * @param edit changes the document before validation: values from the command line
 * @throws InvalidInputError with every problem (of errors in the syntax the first ten), each with line, path, value and rule
 */
export function parseYamlInput<Schema extends z.ZodType>(
  what: string,
  text: string,
  schema: Schema,
  edit: (document: Document) => void = () => undefined,
): { readonly value: z.output<Schema>; readonly lineOf: (path: readonly PropertyKey[]) => number } {
  const lines = new LineCounter();
  const deep = deepLine(text);
  if (deep !== undefined)
    throw new InvalidInputError(`${what} is too deep`, [{ path: "", rule: depthRule, line: deep }]);
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: "error",
  });
  if (document.errors.length > 0) {
    throw new InvalidInputError(
      `${what} is not YAML`,
      document.errors
        .slice(0, maxSyntaxErrors)
        .map(({ message, pos }) => ({ path: "", rule: message, line: lines.linePos(pos[0]).line })),
    );
  }
  edit(document);
  const lineOf = (path: readonly PropertyKey[]): number => lineIn(document, lines, path);
  const parsed = schema.safeParse(contentOf(what, document), { reportInput: true });
  if (parsed.success) return { value: parsed.data, lineOf };
  const paths = new Map(
    issuesOf(parsed.error).flatMap((issue) =>
      (issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]).map(
        (path) => [pathText(path), path] as const,
      ),
    ),
  );
  const problems = problemsOf(parsed.error).map(
    (problem): Problem => ({ ...problem, line: lineOf(paths.get(problem.path) ?? []) }),
  );
  throw new InvalidInputError(
    `${what} has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}`,
    [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  );
}

/** Parses a value of YAML from the command line. @throws RangeError whose message is the rule of depth, YAMLParseError */
export function parseYamlValue(text: string): unknown {
  if (deepLine(text) !== undefined) throw new RangeError(depthRule);
  return parse(text);
}

const depthRule = `must have at most ${documentLimits.depth} levels`;

/** The first line with more levels than the limit, found before the document is composed, which is recursive. */
function deepLine(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    // Each level is a collection in the one above. The first element is the document.
    if (parser.stack.length > documentLimits.depth + 2) return text.slice(0, parser.offset).split("\n").length;
  }
  return undefined;
}

/** Aliases are resolved only here. An undefined alias, or aliases that expand without end, are detected late. */
function contentOf(what: string, document: Document): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw new InvalidInputError(`${what} is not YAML`, [{ path: "", rule: (cause as Error).message }], cause);
  }
}

/** Returns the line of the key at `path`; if it is missing, that of the nearest enclosing element. */
function lineIn(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const start = startOf(document, path.slice(0, depth));
    if (start !== undefined) return lines.linePos(start).line;
  }
  return 1;
}

function startOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  const last = path.at(-1);
  const parent: unknown = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (last !== undefined && isMap(parent)) {
    const pair = parent.items.find(({ key }) => isNode(key) && (key as { value?: unknown }).value === last);
    return (pair?.key as Node | undefined)?.range?.[0];
  }
  const node: unknown = last === undefined ? document.contents : document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}
