import type * as z from "zod";
import type { Problem } from "./errors";
import { hidePassword } from "./url-password";

type Issue = z.core.$ZodIssue;

/**
 * Converts a schema's issues to problems. The caller parses with `{ reportInput: true }`, so that the values are known.
 */
export function problemsOf(error: z.ZodError): readonly Problem[] {
  return issuesOf(error).flatMap((issue) => problemsOfIssue(issue));
}

/**
 * Returns a schema's issues. For a union in which one form fits the value's kind, it returns the issues of that form.
 * Paths start at the document's root.
 */
export function issuesOf(error: z.ZodError): readonly Issue[] {
  return error.issues.flatMap((issue) => expanded(issue));
}

function expanded(issue: Issue): readonly Issue[] {
  if (issue.code !== "invalid_union" || issue.discriminator !== undefined) return [issue];
  // A form whose issues are all within the value accepts values of that kind.
  const form = issue.errors.find((issues) => issues.every(isWithin));
  if (form === undefined) return [issue];
  return form.flatMap((inner) => expanded({ ...inner, path: [...issue.path, ...inner.path] } as Issue));
}

function isWithin(issue: Issue): boolean {
  return issue.path.length > 0 || issue.code === "unrecognized_keys" || issue.code === "custom";
}

function problemsOfIssue(issue: Issue): readonly Problem[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: pathText([...issue.path, key]),
      rule: ownMessage(issue) ?? "is not a known key; remove it or check its spelling",
    }));
  }
  const input = inputOf(issue);
  const value = typeof input === "string" ? hidePassword(input) : input;
  return [{ path, ...(value === undefined ? {} : { value }), rule: ruleOf(issue) }];
}

/** A rule over a mapping, or over a union by one of its keys, has the mapping as its input. */
function inputOf(issue: Issue): unknown {
  const { input, path } = issue;
  if (issue.code === "invalid_union") return issue.discriminator === undefined ? input : at(input, path.slice(-1));
  if (issue.code !== "custom") return input;
  return path.map((_, from) => at(input, path.slice(from))).find((value) => value !== undefined) ?? input;
}

function at(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      value !== null && typeof value === "object" && Object.hasOwn(value, part)
        ? (value as Record<PropertyKey, unknown>)[part]
        : undefined,
    input,
  );
}

function ruleOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is required"
        : (ownMessage(issue) ?? `must be ${withArticle(issue.expected)}`);
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `must ${sizeVerb(issue.origin)} ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unitOf(issue.origin, issue.minimum)}`;
    case "too_big":
      return `must ${sizeVerb(issue.origin)} ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}${unitOf(issue.origin, issue.maximum)}`;
    case "invalid_union":
      return unionRule(issue);
    case "invalid_key":
      return issue.issues.map(ruleOf).join("; ");
    default:
      return issue.message;
  }
}

/** Returns the message that a schema states itself, which is a rule; zod's own messages begin differently. */
function ownMessage({ message }: Issue): string | undefined {
  return /^(must|is) /.test(message) ? message : undefined;
}

function unionRule(issue: Extract<Issue, { readonly code: "invalid_union" }>): string {
  if ("options" in issue) {
    const choices = (issue.options as readonly unknown[]).map((option) => JSON.stringify(option));
    return `must be one of ${choices.join(", ")}`;
  }
  const rules = [...new Set(issue.errors.flatMap(([first]) => (first ? [ruleOf(first)] : [])))];
  return rules.join(", or ").replaceAll(", or must be ", ", or ");
}

function sizeVerb(origin: string): string {
  return origin === "array" || origin === "string" || origin === "set" ? "have" : "be";
}

function unitOf(origin: string, count: number | bigint): string {
  const plural = Number(count) === 1 ? "" : "s";
  if (origin === "array" || origin === "set") return ` element${plural}`;
  return origin === "string" ? ` character${plural}` : "";
}

function withArticle(type: string): string {
  if (type === "int") return "a whole number";
  if (type === "record" || type === "object") return "a mapping";
  if (type === "array") return "a list";
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

/** Formats a path: `columns[2].name`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
}
