import type { OpenApiDocument, Operation, Parameter, Reference, ResponseObject } from "../../api/openapi/model";
import { comment, keyOf, typeOf } from "./types";

interface Described extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Operations that answer JSON, in the document's order; pages and the document itself are not for programs. */
export function operationsOf(document: OpenApiDocument): readonly Described[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }))
      .filter((operation) => answersOf(operation).length > 0),
  );
}

/** What an operation takes and answers, as a member of `interface Operations`. */
export function signatureOf(document: OpenApiDocument, operation: Described): string {
  const { operationId, summary, requestBody, parameters } = operation;
  const pages = operation["x-ringmaster"].pages;
  const all = parameters.map((parameter) => resolve(document, parameter));
  const members = [
    group(
      "params",
      all.filter((parameter) => parameter.in === "path"),
    ),
    group(
      "query",
      all.filter((parameter) => parameter.in === "query"),
    ),
    requestBody &&
      `readonly body${requestBody.required ? "" : "?"}: ${typeOf(requestBody.content["application/json"]?.schema ?? {})};`,
    all.some(({ name }) => name === "Idempotency-Key") && "readonly idempotencyKey?: string;",
  ].filter((member) => typeof member === "string");
  const request = members.length === 0 ? "NoInput" : `{\n${members.join("\n")}\n}`;
  const answer = [...new Set(answersOf(operation))].join(" | ");
  const items = pages === undefined ? "never" : JSON.stringify(pages);
  return `${comment(`${summary}.`)}readonly ${operationId}: {\nreadonly request: ${request};\nreadonly answer: ${answer};\nreadonly pages: ${items};\n};`;
}

/** How it is called, as a member of `const operations`. */
export function callOf({ operationId, method, path, "x-ringmaster": ours }: Described): string {
  return `${operationId}: ${JSON.stringify({ method, path, repeatable: ours.repeatable, pages: ours.pages })},`;
}

/** Names of component schemas that the signatures mention. */
export function mentionedIn(text: string, names: readonly string[]): readonly string[] {
  return names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
}

function answersOf({ responses }: Operation): readonly string[] {
  return Object.entries(responses).flatMap(([status, response]) => {
    const json = status.startsWith("2") ? (response as ResponseObject).content?.["application/json"] : undefined;
    return json?.schema ? [typeOf(json.schema)] : [];
  });
}

function resolve(document: OpenApiDocument, parameter: Parameter | Reference): Parameter {
  if (!("$ref" in parameter)) return parameter;
  return document.components.parameters[parameter.$ref.slice(parameter.$ref.lastIndexOf("/") + 1)]!;
}

/** Numbers may be text as a person wrote it: the API says what is wrong with it. */
function group(name: "params" | "query", parameters: readonly Parameter[]): string | undefined {
  if (parameters.length === 0) return undefined;
  const members = parameters.map((parameter) => {
    const type = typeOf(parameter.schema);
    const written = type === "number" ? "number | string" : type;
    return `${comment(parameter.description)}readonly ${keyOf(parameter.name)}${parameter.required ? "" : "?"}: ${written};`;
  });
  const optional = parameters.every(({ required }) => !required);
  return `readonly ${name}${optional ? "?" : ""}: {\n${members.join("\n")}\n};`;
}
