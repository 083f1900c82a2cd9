import { isArray, isObject, type Json, type JsonObject } from "../json";
import { compile, jsonataMessage } from "../query/jsonata";
import { expressionIn } from "../query/template";
import type { Report } from "./report";

export function checkTemplate(value: Json, at: string, report: Report): void {
  if (isArray(value)) {
    for (const [i, item] of value.entries()) checkTemplate(item, `${at}[${i}]`, report);
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) checkTemplate(inner, `${at}/${key}`, report);
  } else checkJsonata(value, at, report);
}

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

export function checkAssign(assign: Json | undefined, at: string, report: Report): void {
  if (assign === undefined) return;
  if (!isObject(assign)) {
    report.add(at, "Expected value of type Object");
    return;
  }
  for (const name of Object.keys(assign as JsonObject)) {
    if (!/^[\p{ID_Start}_][\p{ID_Continue}]{0,79}$/u.test(name))
      report.add(`${at}/${name}`, `Invalid variable name '${name}'`);
    if (name === "states") report.add(`${at}/${name}`, "The variable name 'states' is reserved");
  }
  checkTemplate(assign, at, report);
}
