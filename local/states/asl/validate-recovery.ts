import { isArray, isInteger, isObject, type Json, type JsonObject } from "../json";
import { checkAssign, checkTemplate } from "./expressions";
import type { Report } from "./report";

type Range = (value: Json) => boolean;
const between =
  (min: number, max: number): Range =>
  (value) =>
    isInteger(value) && value >= min && value <= max;

const retrierFields: Readonly<Record<string, readonly [range: Range, rule: string]>> = {
  IntervalSeconds: [between(1, 99_999_999), "an integer between 1 and 99999999"],
  MaxAttempts: [between(0, 99_999_999), "an integer between 0 and 99999999"],
  BackoffRate: [(value) => typeof value === "number" && value >= 1, "a number of at least 1.0"],
  MaxDelaySeconds: [between(1, 31_622_400), "an integer between 1 and 31622400"],
  JitterStrategy: [(value) => value === "FULL" || value === "NONE", "FULL or NONE"],
};

/** Checks ErrorEquals of every object in the list, and calls back for it. */
function eachHandler(list: Json, report: Report, at: string, check: (entry: JsonObject, at: string) => void): void {
  if (!isArray(list)) {
    report.add(at, "Expected value of type Array");
    return;
  }
  list.forEach((entry, i) => {
    const here = `${at}[${i}]`;
    if (!isObject(entry)) {
      report.add(here, "Expected value of type Object");
      return;
    }
    checkErrors(entry["ErrorEquals"], i === list.length - 1, report, here);
    check(entry, here);
  });
}

function checkErrors(names: Json | undefined, last: boolean, report: Report, at: string): void {
  if (!isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string")) {
    report.add(`${at}/ErrorEquals`, "Expected value of type Array of at least one String");
    return;
  }
  if (!names.includes("States.ALL")) return;
  if (names.length > 1) report.add(`${at}/ErrorEquals`, "States.ALL must appear alone");
  if (!last) report.add(`${at}/ErrorEquals`, "States.ALL can only appear in the last element of the list");
}

export function checkRetry(list: Json, report: Report, at: string): void {
  eachHandler(list, report, at, (retrier, here) => {
    for (const [field, value] of Object.entries(retrier)) {
      if (field === "ErrorEquals" || field === "Comment") continue;
      const [holds, rule] = retrierFields[field] ?? [];
      if (!holds) report.add(`${here}/${field}`, `Field '${field}' is not supported`);
      else if (!holds(value)) report.add(`${here}/${field}`, `Value must be ${rule}, not ${JSON.stringify(value)}`);
    }
  });
}

const catcherFields: ReadonlySet<string> = new Set(["ErrorEquals", "Next", "Comment", "Assign", "Output"]);

export function checkCatch(list: Json, report: Report, at: string): void {
  eachHandler(list, report, at, (catcher, here) => {
    for (const field of Object.keys(catcher)) {
      if (!catcherFields.has(field)) report.add(`${here}/${field}`, `Field '${field}' is not supported`);
    }
    const { Next: next, Assign: assign, Output: output } = catcher;
    if (next === undefined) report.add(here, "These fields are required: [Next]");
    checkAssign(assign, `${here}/Assign`, report);
    if (output !== undefined) checkTemplate(output, `${here}/Output`, report);
  });
}
