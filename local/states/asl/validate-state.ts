import { implementedResources, parseResource } from "../engine/tasks/resource";
import { isArray, isInteger, isObject, type Json, type JsonObject } from "../json";
import { expressionIn } from "../query/template";
import { checkAssign, checkPath, checkTemplate } from "./expressions";
import { allowedFields, isStateType, required, stateTypes, unimplementedFields } from "./fields";
import type { Report } from "./report";
import type { QueryLanguage, StateType } from "./types";
import { checkContainer, type Surroundings } from "./validate";
import { checkChoices } from "./validate-choice";
import { checkCatch, checkRetry } from "./validate-recovery";

export function checkState(name: string, state: JsonObject, around: Surroundings, at: string): void {
  const { report } = around;
  const { Type: type } = state;
  if (!isStateType(type)) {
    report.add(
      `${at}/Type`,
      `Invalid Type '${String(type)}' of state '${name}'. Expected one of: [${stateTypes.join(", ")}]`,
    );
    return;
  }
  const language = languageOf(state, around, at);
  checkFields(state, type, language, report, at);
  checkValues(state, language, report, at);
  if (type === "Task") checkResource(state["Resource"], report, at);
  if (type === "Choice") checkChoices(state["Choices"], language, report, `${at}/Choices`);
  if (state["Retry"] !== undefined) checkRetry(state["Retry"], report, `${at}/Retry`);
  if (state["Catch"] !== undefined) checkCatch(state["Catch"], language, report, `${at}/Catch`);
  const inner = { ...around, language: around.language };
  if (type === "Parallel") checkBranches(state["Branches"], inner, `${at}/Branches`);
  if (type === "Map") checkProcessor(state, inner, at);
}

function languageOf(state: JsonObject, { language, whole, report }: Surroundings, at: string): QueryLanguage {
  const { QueryLanguage: own } = state;
  if (own === undefined) return language;
  if (own !== "JSONata" && own !== "JSONPath") {
    report.add(`${at}/QueryLanguage`, "Value must be one of: [JSONPath, JSONata]");
    return language;
  }
  if (own === "JSONPath" && whole === "JSONata") {
    report.add(at, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine");
  }
  return own;
}

function checkFields(state: JsonObject, type: StateType, language: QueryLanguage, report: Report, at: string): void {
  const allowed = allowedFields(type, language);
  for (const field of Object.keys(state)) {
    if (allowed.has(field)) continue;
    const why = unimplementedFields.has(field)
      ? `Field '${field}' is not implemented by the embedded Step Functions`
      : `Field '${field}' is not supported`;
    report.add(`${at}/${field}`, why);
  }
  for (const group of required[type]) {
    const usable = group.filter((field) => allowed.has(field));
    const present = usable.filter((field) => state[field] !== undefined);
    if (present.length === 0) report.add(at, `These fields are required: [${usable.join(" or ")}]`);
    if (present.length > 1) report.add(at, `Only one of these fields is allowed: [${present.join(", ")}]`);
  }
  if (state["End"] !== undefined && state["End"] !== true) report.add(`${at}/End`, "Value must be true");
}

const templates = ["Arguments", "Output", "Items", "ItemSelector", "Parameters", "ResultSelector"];
const plainPaths = ["InputPath", "OutputPath", "ItemsPath", "SecondsPath", "TimestampPath", "TimeoutSecondsPath"];
const morePaths = ["HeartbeatSecondsPath", "MaxConcurrencyPath"];
const counts: Readonly<Record<string, number>> = {
  Seconds: 0,
  TimeoutSeconds: 1,
  HeartbeatSeconds: 1,
  MaxConcurrency: 0,
};
const texts = ["Timestamp", "Error", "Cause"];

function checkValues(state: JsonObject, language: QueryLanguage, report: Report, at: string): void {
  const present = (fields: readonly string[]) =>
    fields.flatMap((field) => (state[field] === undefined ? [] : [[field, state[field]] as const]));
  for (const [field, value] of present(templates)) checkTemplate(value, language, `${at}/${field}`, report);
  for (const [field, value] of present([...plainPaths, ...morePaths])) checkPath(value, `${at}/${field}`, report);
  for (const [field, value] of present(["ResultPath"])) checkPath(value, `${at}/${field}`, report, { reference: true });
  for (const [field, value] of present(Object.keys(counts))) {
    checkCount(value, counts[field] ?? 0, language, `${at}/${field}`, report);
  }
  for (const [field, value] of present(texts)) {
    if (typeof value !== "string") report.add(`${at}/${field}`, "Expected value of type String");
    else checkTemplate(value, language, `${at}/${field}`, report);
  }
  checkAssign(state["Assign"], language, `${at}/Assign`, report);
  const { TimeoutSeconds: timeout, HeartbeatSeconds: heartbeat } = state;
  if (isInteger(timeout) && isInteger(heartbeat) && heartbeat >= timeout) {
    report.add(`${at}/HeartbeatSeconds`, "HeartbeatSeconds must be smaller than TimeoutSeconds");
  }
}

function checkCount(value: Json, least: number, language: QueryLanguage, at: string, report: Report): void {
  if (language === "JSONata" && expressionIn(value) !== undefined) checkTemplate(value, language, at, report);
  else if (!isInteger(value) || value < least || value > 99_999_999) {
    report.add(at, `Expected value of type Integer between ${least} and 99999999`);
  }
}

function checkResource(resource: Json | undefined, report: Report, at: string): void {
  if (resource === undefined) return;
  if (typeof resource === "string" && parseResource(resource)) return;
  report.add(
    `${at}/Resource`,
    `The resource '${String(resource)}' is not implemented by the embedded Step Functions. Implemented: ${implementedResources}`,
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
  const field = state["ItemProcessor"] === undefined ? "Iterator" : "ItemProcessor";
  const processor = state[field];
  if (!isObject(processor)) return;
  const config = processor["ProcessorConfig"];
  if (isObject(config) && config["Mode"] !== undefined && config["Mode"] !== "INLINE") {
    const mode = String(config["Mode"]);
    const why = `Map mode '${mode}' is not implemented by the embedded Step Functions: use INLINE`;
    around.report.add(`${at}/${field}/ProcessorConfig/Mode`, why);
  }
  checkContainer(processor, around, `${at}/${field}`);
}
