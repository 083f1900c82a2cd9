import { isArray, isInteger, isObject, type Json, type JsonObject } from "../json";
import { expressionIn } from "../query/template";
import { resources, type StateType } from "../types";
import { checkAssign, checkTemplate } from "./expressions";
import { allowedFields, isStateType, required, stateTypes, unimplementedFields } from "./fields";
import type { Report } from "./report";
import { checkScope } from "./scopes";

function checkChoices(choices: Json | undefined, report: Report, at: string): void {
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

function checkRetry(list: Json, report: Report, at: string): void {
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

function checkCatch(list: Json, report: Report, at: string): void {
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

function checkState(name: string, state: JsonObject, around: Surroundings, at: string): void {
  const { report } = around;
  const { Type: type } = state;
  if (!isStateType(type)) {
    report.add(
      `${at}/Type`,
      `Invalid Type '${String(type)}' of state '${name}'. Expected one of: [${stateTypes.join(", ")}]`,
    );
    return;
  }
  checkFields(state, type, report, at);
  checkValues(state, report, at);
  if (type === "Task") checkResource(state["Resource"], report, at);
  if (type === "Choice") checkChoices(state["Choices"], report, `${at}/Choices`);
  if (state["Retry"] !== undefined) checkRetry(state["Retry"], report, `${at}/Retry`);
  if (state["Catch"] !== undefined) checkCatch(state["Catch"], report, `${at}/Catch`);
  if (type === "Parallel") checkBranches(state["Branches"], around, `${at}/Branches`);
  if (type === "Map") checkProcessor(state, around, at);
}

function checkFields(state: JsonObject, type: StateType, report: Report, at: string): void {
  const allowed = allowedFields(type);
  for (const field of Object.keys(state)) {
    if (allowed.has(field)) continue;
    const why = unimplementedFields.has(field)
      ? `Field '${field}' is not implemented by the embedded Step Functions`
      : `Field '${field}' is not supported`;
    report.add(`${at}/${field}`, why);
  }
  for (const group of required[type]) {
    const present = group.filter((field) => state[field] !== undefined);
    if (present.length === 0) report.add(at, `These fields are required: [${group.join(" or ")}]`);
    if (present.length > 1) report.add(at, `Only one of these fields is allowed: [${present.join(", ")}]`);
  }
  if (state["QueryLanguage"] !== undefined && state["QueryLanguage"] !== "JSONata") {
    report.add(`${at}/QueryLanguage`, "The embedded Step Functions implement JSONata only");
  }
  if (state["End"] !== undefined && state["End"] !== true) report.add(`${at}/End`, "Value must be true");
}

const templates = ["Arguments", "Output", "Items", "ItemSelector"];
const counts: Readonly<Record<string, number>> = {
  Seconds: 0,
  TimeoutSeconds: 1,
  HeartbeatSeconds: 1,
  MaxConcurrency: 0,
};
const texts = ["Timestamp", "Error", "Cause"];

function checkValues(state: JsonObject, report: Report, at: string): void {
  const present = (fields: readonly string[]) =>
    fields.flatMap((field) => (state[field] === undefined ? [] : [[field, state[field]] as const]));
  for (const [field, value] of present(templates)) checkTemplate(value, `${at}/${field}`, report);
  for (const [field, value] of present(Object.keys(counts))) {
    checkCount(value, counts[field] ?? 0, `${at}/${field}`, report);
  }
  for (const [field, value] of present(texts)) {
    if (typeof value !== "string") report.add(`${at}/${field}`, "Expected value of type String");
    else checkTemplate(value, `${at}/${field}`, report);
  }
  checkAssign(state["Assign"], `${at}/Assign`, report);
  const { TimeoutSeconds: timeout, HeartbeatSeconds: heartbeat } = state;
  if (isInteger(timeout) && isInteger(heartbeat) && heartbeat >= timeout) {
    report.add(`${at}/HeartbeatSeconds`, "HeartbeatSeconds must be smaller than TimeoutSeconds");
  }
}

function checkCount(value: Json, least: number, at: string, report: Report): void {
  if (expressionIn(value) !== undefined) checkTemplate(value, at, report);
  else if (!isInteger(value) || value < least || value > 99_999_999) {
    report.add(at, `Expected value of type Integer between ${least} and 99999999`);
  }
}

function checkResource(resource: Json | undefined, report: Report, at: string): void {
  if (resource === undefined) return;
  if (typeof resource === "string" && resources.includes(resource)) return;
  report.add(
    `${at}/Resource`,
    `The resource '${String(resource)}' is not implemented by the embedded Step Functions. Implemented: ${resources.join(", ")}`,
  );
}

function checkBranches(branches: Json | undefined, around: Surroundings, at: string): void {
  if (!isArray(branches) || branches.length === 0) {
    around.report.add(at, "Expected value of type Array with at least one branch");
    return;
  }
  branches.forEach((branch, i) => {
    if (isObject(branch)) checkContainer(branch, around, `${at}[${i}]`);
    else around.report.add(`${at}[${i}]`, "Expected value of type Object");
  });
}

function checkProcessor(state: JsonObject, around: Surroundings, at: string): void {
  const processor = state["ItemProcessor"];
  if (!isObject(processor)) return;
  const here = `${at}/ItemProcessor`;
  const distributed = checkProcessorConfig(processor["ProcessorConfig"], around.report, `${here}/ProcessorConfig`);
  if (state["Label"] !== undefined) checkLabel(state["Label"], distributed, around.report, `${at}/Label`);
  // A child execution sees no variable of its parent, and may use the same names.
  checkContainer(processor, distributed ? { ...around, assigned: new Set() } : around, here);
}

function checkProcessorConfig(config: Json | undefined, report: Report, at: string): boolean {
  if (!isObject(config)) return false;
  const { Mode: mode = "INLINE", ExecutionType: type } = config;
  if (mode !== "INLINE" && mode !== "DISTRIBUTED") {
    report.add(`${at}/Mode`, "Value must be one of: [INLINE, DISTRIBUTED]");
    return false;
  }
  if (mode === "INLINE" && type !== undefined)
    report.add(`${at}/ExecutionType`, "Field is not supported in INLINE mode");
  if (mode === "DISTRIBUTED" && type !== "STANDARD") {
    report.add(
      `${at}/ExecutionType`,
      type === "EXPRESS"
        ? "EXPRESS child executions are not implemented by the embedded Step Functions: use STANDARD"
        : "Value must be one of: [STANDARD, EXPRESS]",
    );
  }
  return mode === "DISTRIBUTED";
}

function checkLabel(label: Json, distributed: boolean, report: Report, at: string): void {
  if (!distributed) report.add(at, "Field 'Label' is only supported in DISTRIBUTED mode");
  else if (typeof label !== "string" || !/^[\w.-]{1,40}$/.test(label)) {
    report.add(at, "Expected value of type String with 1 to 40 letters, digits, or any of _ . -");
  }
}

export interface Surroundings {
  readonly names: Set<string>;
  /** The variables that the enclosing scopes assign. An inner scope may read but not assign them. */
  readonly assigned: ReadonlySet<string>;
  readonly report: Report;
}

export function checkContainer(container: JsonObject, around: Surroundings, at: string): void {
  const { report, names } = around;
  const { StartAt: start, States: states } = container;
  const missing = ["States", "StartAt"].filter((field) => container[field] === undefined);
  if (missing.length > 0) {
    report.add(at || "/", `These fields are required: [${missing.join(", ")}]`);
    return;
  }
  if (!isObject(states) || Object.keys(states).length === 0) {
    report.add(`${at}/States`, "Expected value of type Object with at least one state");
    return;
  }
  if (typeof start !== "string" || !Object.hasOwn(states, start)) {
    report.add(`${at}/StartAt`, `Missing 'StartAt' target: ${String(start)}`, "MISSING_TRANSITION_TARGET");
  }
  const inner = { ...around, assigned: checkScope(states, around.assigned, report, at) };
  for (const [name, state] of Object.entries(states)) {
    const here = `${at}/States/${name}`;
    if (name.length > 80) report.add(here, "A state's name has at most 80 characters");
    if (names.has(name)) report.add(here, `Duplicate state name: ${name}`, "DUPLICATE_STATE_NAME");
    names.add(name);
    if (!isObject(state)) report.add(here, "Expected value of type Object");
    else checkState(name, state, inner, here);
  }
  checkTargets(start, states, report, at);
}

function targets(state: Json | undefined): readonly { readonly field: string; readonly to: Json }[] {
  if (!isObject(state)) return [];
  const list = (field: "Catch" | "Choices") =>
    (isArray(state[field]) ? state[field] : []).map((each, i) => ({
      field: `${field}[${i}]/Next`,
      to: isObject(each) ? each["Next"] : undefined,
    }));
  return [
    { field: "Next", to: state["Next"] },
    { field: "Default", to: state["Default"] },
    ...list("Catch"),
    ...list("Choices"),
  ].flatMap(({ field, to }) => (to === undefined ? [] : [{ field, to }]));
}

function checkTargets(start: Json | undefined, states: JsonObject, report: Report, at: string): void {
  for (const [name, state] of Object.entries(states)) {
    for (const { field, to } of targets(state)) {
      if (typeof to === "string" && Object.hasOwn(states, to)) continue;
      const what = field.split("/").at(-1);
      report.add(
        `${at}/States/${name}/${field}`,
        `Missing '${what}' target: ${String(to)}`,
        "MISSING_TRANSITION_TARGET",
      );
    }
  }
  const reached = new Set<string>();
  const visit = (name: Json | undefined): void => {
    if (typeof name !== "string" || reached.has(name) || !Object.hasOwn(states, name)) return;
    reached.add(name);
    for (const { to } of targets(states[name])) visit(to);
  };
  visit(start);
  for (const name of Object.keys(states)) {
    if (reached.has(name)) continue;
    report.add(`${at}/States/${name}`, `State "${name}" is not reachable.`, "MISSING_TRANSITION_TARGET");
  }
}
