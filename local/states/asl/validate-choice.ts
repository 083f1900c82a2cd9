import { isArray, isObject, type Json, type JsonObject } from "../json";
import { checkAssign, checkTemplate } from "./expressions";
import type { Report } from "./report";

export function checkChoices(choices: Json | undefined, report: Report, at: string): void {
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
    checkAssign(rule["Assign"], `${here}/Assign`, report);
    checkCondition(rule, report, here);
  });
}

const ruleFields: ReadonlySet<string> = new Set(["Condition", "Next", "Assign", "Output", "Comment"]);

function checkCondition(rule: JsonObject, report: Report, at: string): void {
  for (const field of Object.keys(rule)) {
    if (!ruleFields.has(field)) report.add(`${at}/${field}`, `Field '${field}' is not supported`);
  }
  const { Condition: condition, Output: output } = rule;
  if (condition === undefined) report.add(at, "These fields are required: [Condition]");
  else if (typeof condition !== "string" && typeof condition !== "boolean") {
    report.add(`${at}/Condition`, "Expected a JSONata expression or a boolean");
  } else checkTemplate(condition, `${at}/Condition`, report);
  if (output !== undefined) checkTemplate(output, `${at}/Output`, report);
}
