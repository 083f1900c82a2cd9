import * as z from "zod";
import type { Problem } from "../../core/errors";
import { isObject } from "../../core/json-text";
import { pathText, problemsOf } from "../../core/problems";

export const maxProblems = 100;

type Schema = z.core.$ZodTypes;
type Path = readonly PropertyKey[];

/**
 * Finds problems in a large document, and stops after a hundred: the schema's parser needs a second for 100,000 invalid
 * elements. An empty list is inconclusive, because rules over whole objects are left to the parser.
 */
export function firstProblems(schema: z.core.$ZodType, value: unknown): readonly Problem[] {
  const problems: Problem[] = [];
  visit(schema, value, [], problems);
  return problems;
}

function visit(schema: z.core.$ZodType, value: unknown, path: Path, problems: Problem[]): void {
  if (problems.length >= maxProblems) return;
  const { def } = (schema as Schema)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      if (value !== undefined && value !== null) visit(def.innerType, value, path, problems);
      return;
    case "pipe":
      visit(def.in, value, path, problems);
      return;
    case "lazy":
      visit(def.getter(), value, path, problems);
      return;
    case "array":
      if (Array.isArray(value)) visitArray(def, value, path, problems);
      else leaf(schema, value, path, problems);
      return;
    case "object":
      if (isObject(value)) visitObject(def, value, path, problems);
      else leaf(schema, value, path, problems);
      return;
    case "record":
      if (isObject(value)) visitRecord(def, value, path, problems);
      else leaf(schema, value, path, problems);
      return;
    case "union":
      if (typeof value === "object" && value !== null) visitUnion(def.options, value, path, problems);
      else leaf(schema, value, path, problems);
      return;
    default:
      leaf(schema, value, path, problems);
  }
}

function visitArray(
  { element, checks = [] }: z.core.$ZodArrayDef,
  value: readonly unknown[],
  path: Path,
  problems: Problem[],
): void {
  for (const { _zod } of checks as readonly unknown[] as readonly z.core.$ZodChecks[]) {
    if (_zod.def.check !== "max_length" || value.length <= _zod.def.maximum) continue;
    problems.push({ path: pathText(path), rule: `must have at most ${_zod.def.maximum} elements` });
    return;
  }
  for (let i = 0; i < value.length && problems.length < maxProblems; i += 1) {
    visit(element, value[i], [...path, i], problems);
  }
}

function visitObject(
  { shape, catchall }: z.core.$ZodObjectDef,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  problems: Problem[],
): void {
  const isStrict = catchall?._zod.def.type === "never";
  for (const key in value) {
    if (problems.length >= maxProblems) return;
    const member = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (member) visit(member, value[key], [...path, key], problems);
    else if (isStrict) {
      const rule = "is not a known key; remove it or check its spelling";
      problems.push({ path: pathText([...path, key]), rule });
    }
  }
}

function visitRecord(
  { keyType, valueType }: z.core.$ZodRecordDef,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  problems: Problem[],
): void {
  for (const key in value) {
    if (problems.length >= maxProblems) return;
    leaf(keyType, key, [...path, key], problems);
    visit(valueType, value[key], [...path, key], problems);
  }
}

/** A value breaks a union if it breaks every form. The first form's problems are reported. */
function visitUnion(options: readonly z.core.$ZodType[], value: unknown, path: Path, problems: Problem[]): void {
  let first: readonly Problem[] | undefined;
  for (const option of options) {
    const found: Problem[] = [];
    visit(option, value, path, found);
    if (found.length === 0) return;
    first ??= found;
  }
  problems.push(...(first ?? []));
}

function leaf(schema: z.core.$ZodType, value: unknown, path: Path, problems: Problem[]): void {
  const parsed = z.safeParse(schema, value, { reportInput: true });
  if (parsed.success) return;
  const at = pathText(path);
  for (const problem of problemsOf(parsed.error as z.ZodError)) {
    const within = problem.path === "" ? "" : problem.path.startsWith("[") ? problem.path : `.${problem.path}`;
    problems.push({ ...problem, path: `${at}${within}` });
  }
}
