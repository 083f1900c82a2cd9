import { parseJson } from "../../json";
import { isObject, type Json, type JsonObject } from "../json";
import { type Diagnostic, Report } from "./report";
import { checkContainer } from "./validate-state";

/** The maximum size of a definition: 1 MiB. */
const maxDefinitionBytes = 1_048_576;

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
    definition = parseJson(text) as Json;
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
  if (language !== "JSONata") {
    report.add("/QueryLanguage", `The embedded Step Functions implement JSONata only, not ${JSON.stringify(language)}`);
    return;
  }
  if (timeout !== undefined && !(Number.isInteger(timeout) && Number(timeout) > 0 && Number(timeout) <= 99_999_999)) {
    report.add("/TimeoutSeconds", "Expected value of type Integer between 1 and 99999999");
  }
  if (version !== undefined && version !== "1.0") report.add("/Version", "Version must be '1.0'");
  checkContainer(definition, { names: new Set(), assigned: new Set(), report }, "");
}
