import { parseJson } from "../../../core/json-text";
import { portLimits } from "../../wire";
import { isArray, isObject, type Json, type JsonObject } from "../json";
import { type Diagnostic, Report } from "./report";
import { checkScope } from "./scopes";
import type { QueryLanguage } from "./types";
import { checkState } from "./validate-state";

/** Longest definition: 1 MiB. */
const maxDefinitionBytes = 1_048_576;

/** Everything that is wrong with a definition; an empty list where it can be run as written. */
export function validateDefinition(text: string): readonly Diagnostic[] {
  const report = new Report();
  if (Buffer.byteLength(text) > maxDefinitionBytes) {
    report.add("", `The definition is longer than ${maxDefinitionBytes} bytes`);
    return report.diagnostics;
  }
  const definition = parse(text, report);
  if (definition) checkMachine(definition, report);
  return report.diagnostics;
}

function parse(text: string, report: Report): JsonObject | undefined {
  let definition: Json;
  try {
    definition = parseJson(text, portLimits) as Json;
  } catch (error) {
    report.add("", (error as Error).message, text.trim() ? "INVALID_JSON_DESCRIPTION" : "SCHEMA_VALIDATION_FAILED");
    return undefined;
  }
  if (isObject(definition)) return definition;
  report.add("", "Definition must be a valid JSON object");
  return undefined;
}

const machineFields: ReadonlySet<string> = new Set([
  ...["Comment", "Version", "QueryLanguage", "TimeoutSeconds", "StartAt", "States"],
]);

function checkMachine(definition: JsonObject, report: Report): void {
  const { QueryLanguage: language = "JSONPath", TimeoutSeconds: timeout, Version: version } = definition;
  for (const key of Object.keys(definition)) {
    if (!machineFields.has(key)) report.add(`/${key}`, `Field '${key}' is not supported`);
  }
  if (language !== "JSONata" && language !== "JSONPath") {
    report.add("/QueryLanguage", "Value must be one of: [JSONPath, JSONata]");
  }
  if (timeout !== undefined && !(Number.isInteger(timeout) && Number(timeout) > 0 && Number(timeout) <= 99_999_999)) {
    report.add("/TimeoutSeconds", "Expected value of type Integer between 1 and 99999999");
  }
  if (version !== undefined && version !== "1.0") report.add("/Version", "Version must be '1.0'");
  const names = new Set<string>();
  checkContainer(
    definition,
    { language: language as QueryLanguage, whole: language as QueryLanguage, names, assigned: new Set(), report },
    "",
  );
}

/** What a check needs to know of its surroundings. */
export interface Surroundings {
  /** Of the enclosing container, which a state may override. */
  readonly language: QueryLanguage;
  /** Of the whole state machine. */
  readonly whole: QueryLanguage;
  /** All state names so far: they are unique in the whole machine. */
  readonly names: Set<string>;
  /** Variables that the enclosing scopes assign: an inner scope may read them, and not assign them. */
  readonly assigned: ReadonlySet<string>;
  readonly report: Report;
}

/** A place where states stand: the machine itself, a branch, a Map's processor. */
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

/** Every place in a state that names another one. */
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
