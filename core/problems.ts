import type { z } from "zod";
import type { Problem } from "./errors";

type Issue = z.core.$ZodIssue;

/** Every problem that a schema found, in house words. Parse with `{ reportInput: true }` so that the values are known. */
export function problemsOf(error: z.ZodError): readonly Problem[] {
  return error.issues.flatMap((issue) => problemsOfIssue(issue));
}

function problemsOfIssue(issue: Issue): readonly Problem[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: pathText([...issue.path, key]),
      rule: "is not a known key; remove it or check its spelling",
    }));
  }
  const value = issue.code === "custom" ? (at(issue.input, issue.path) ?? issue.input) : issue.input;
  return [{ path, ...(value === undefined ? {} : { value }), rule: ruleOf(issue) }];
}

/** A rule over the whole document has the document as its input; a person wants the value that the rule is about. */
function at(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      value !== null && typeof value === "object" ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    input,
  );
}

function ruleOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${withArticle(issue.expected)}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `must ${sizeVerb(issue.origin)} ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `must ${sizeVerb(issue.origin)} ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}${unitOf(issue.origin)}`;
    case "invalid_union":
      return issue.discriminator === undefined
        ? "has none of the forms allowed here"
        : `needs a known ${JSON.stringify(issue.discriminator)}`;
    default:
      return issue.message;
  }
}

function sizeVerb(origin: string): string {
  return origin === "array" || origin === "string" || origin === "set" ? "have" : "be";
}

function unitOf(origin: string): string {
  if (origin === "array" || origin === "set") return " elements";
  return origin === "string" ? " characters" : "";
}

function withArticle(type: string): string {
  if (type === "int") return "a whole number";
  if (type === "record" || type === "object") return "a mapping";
  if (type === "array") return "a list";
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

/** `columns[2].name`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );
}
