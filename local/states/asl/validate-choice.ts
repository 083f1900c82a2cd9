import { isArray, isObject, type Json, type JsonObject } from "../json";
import { operatorOf } from "../query/comparison";
import type { ChoiceRule, QueryLanguage } from "../types";
import { checkAssign, checkPath, checkTemplate } from "./expressions";
import type { Report } from "./report";

export function checkChoices(choices: Json | undefined, language: QueryLanguage, report: Report, at: string): void {
  if (choices === undefined) return;
  if (!isArray(choices) || choices.length === 0) {
    report.add(at, "Expected value of type Array with at least one rule");
    return;
  }
  choices.forEach((rule, i) => {
    const here = `${at}[${i}]`;
    if (!isObject(rule)) {
      report.add(here, "Expected value of type Object");
      return;
    }
    if (rule["Next"] === undefined) report.add(here, "These fields are required: [Next]");
    checkAssign(rule["Assign"], language, `${here}/Assign`, report);
    if (language === "JSONata") checkCondition(rule, report, here);
    else checkRule(rule, report, here);
  });
}

const jsonataFields: ReadonlySet<string> = new Set(["Condition", "Next", "Assign", "Output", "Comment"]);

function checkCondition(rule: JsonObject, report: Report, at: string): void {
  for (const field of Object.keys(rule)) {
    if (!jsonataFields.has(field)) report.add(`${at}/${field}`, `Field '${field}' is not supported`);
  }
  const { Condition: condition, Output: output } = rule;
  if (condition === undefined) report.add(at, "These fields are required: [Condition]");
  else if (typeof condition !== "string" && typeof condition !== "boolean") {
    report.add(`${at}/Condition`, "Expected a JSONata expression or a boolean");
  } else checkTemplate(condition, "JSONata", `${at}/Condition`, report);
  if (output !== undefined) checkTemplate(output, "JSONata", `${at}/Output`, report);
}

function checkRule(rule: JsonObject, report: Report, at: string): void {
  const joins = ["And", "Or", "Not"].filter((field) => rule[field] !== undefined);
  if (joins.length === 1) {
    const [join = ""] = joins;
    const inner = join === "Not" ? [rule[join]] : rule[join];
    if (!isArray(inner as Json) || (inner as readonly Json[]).length === 0) {
      report.add(`${at}/${join}`, "Expected value of type Array with at least one rule");
      return;
    }
    (inner as readonly Json[]).forEach((each, i) => {
      if (isObject(each)) checkRule(each, report, `${at}/${join}[${i}]`);
      else report.add(`${at}/${join}[${i}]`, "Expected value of type Object");
    });
    return;
  }
  const operator = operatorOf(rule as ChoiceRule);
  if (joins.length > 1 || !operator) {
    report.add(at, "A rule needs exactly one comparison operator, or one of And, Or, Not");
    return;
  }
  if (rule["Variable"] === undefined) report.add(at, "These fields are required: [Variable]");
  else checkPath(rule["Variable"], `${at}/Variable`, report);
  if (operator.endsWith("Path")) checkPath(rule[operator] as Json, `${at}/${operator}`, report);
}
