import { isArray, isObject, type Json, type JsonObject } from "../json";
import { parseIntrinsic } from "../query/intrinsic-parse";
import { compile, jsonataMessage } from "../query/jsonata";
import { parsePath } from "../query/path-parse";
import { expressionIn } from "../query/template";
import type { QueryLanguage } from "../types";
import type { Report } from "./report";

/** Checks all expressions in a value of either language. */
export function checkTemplate(value: Json, language: QueryLanguage, at: string, report: Report): void {
  if (isArray(value)) {
    for (const [i, item] of value.entries()) checkTemplate(item, language, `${at}[${i}]`, report);
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      const here = `${at}/${key}`;
      if (language === "JSONPath" && key.endsWith(".$")) checkDynamic(inner, here, report);
      else checkTemplate(inner, language, here, report);
    }
  } else if (language === "JSONata") checkJsonata(value, at, report);
}

/** Checks a string that has the form of an expression. */
function checkJsonata(value: Json, at: string, report: Report): void {
  if (typeof value !== "string") return;
  const expression = expressionIn(value);
  if (expression === undefined) {
    const trimmed = value.trim();
    if (!trimmed.startsWith("{%") && !trimmed.endsWith("%}")) return;
    report.add(at, "A JSONata expression must start with '{%' and end with '%}', without spaces around them");
    return;
  }
  if (expression === "") {
    report.add(at, "The JSONata expression is empty");
    return;
  }
  if (/(^|[^\w$])\$\$(?![\w$])/.test(expression.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""'))) {
    report.add(at, "'$$' is not supported in a JSONata expression: use $states.input");
  }
  try {
    compile(expression);
  } catch (error) {
    report.add(at, `The JSONata expression is invalid: ${jsonataMessage(error)}`);
  }
}

function checkDynamic(value: Json, at: string, report: Report): void {
  if (typeof value !== "string") {
    report.add(at, "The value of a field whose name ends in '.$' must be a JSONPath or an intrinsic function");
    return;
  }
  try {
    if (value.startsWith("$")) parsePath(value);
    else parseIntrinsic(value);
  } catch (error) {
    report.add(
      at,
      `The value for the field '${at.split("/").at(-1)}' must be a valid JSONPath or a valid intrinsic function call: ${(error as Error).message}`,
    );
  }
}

/**
 * Checks a path.
 * @param reference whether the path must be a reference path, which selects exactly one place and is not in the context
 * object
 */
export function checkPath(value: Json, at: string, report: Report, { reference = false } = {}): void {
  if (value === null) return;
  try {
    const path = parsePath(typeof value === "string" ? value : JSON.stringify(value));
    if (reference && (!path.definite || path.root !== "input")) {
      report.add(at, `Value is not a Reference Path: ${String(value)}`);
    }
  } catch (error) {
    report.add(at, `Value is not a valid JSONPath: ${(error as Error).message}`);
  }
}

export function checkAssign(assign: Json | undefined, language: QueryLanguage, at: string, report: Report): void {
  if (assign === undefined) return;
  if (!isObject(assign)) {
    report.add(at, "Expected value of type Object");
    return;
  }
  for (const key of Object.keys(assign as JsonObject)) {
    const name = language === "JSONPath" ? key.replace(/\.\$$/, "") : key;
    if (!/^[\p{ID_Start}_][\p{ID_Continue}]{0,79}$/u.test(name))
      report.add(`${at}/${key}`, `Invalid variable name '${name}'`);
    if (name === "states") report.add(`${at}/${key}`, "The variable name 'states' is reserved");
  }
  checkTemplate(assign, language, at, report);
}
