import type {
  JsonSchema,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
  ResponseObject,
} from "../openapi/model";
import { escapeHtml, inline, json, markdown } from "./html";
import { schemaView } from "./schema-view";

const repeatable = {
  always: "May be sent again.",
  "with-key": "May be sent again with the same Idempotency-Key.",
  never: "Not to be sent again unseen.",
} as const;

export function operationView(document: OpenApiDocument, path: string, method: string, operation: Operation): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const parameters = operation.parameters.map((parameter) => resolve<Parameter>(document, parameter));
  const body = requestBody?.content["application/json"];
  const answers = Object.entries(responses).map(([status, response]) =>
    answerView(status, resolve<ResponseObject>(document, response)),
  );
  return `<article id="${operationId}" data-search="${escapeHtml(`${operationId} ${method} ${path} ${summary}`.toLowerCase())}">
<h3><a href="#${operationId}">${inline(summary)}</a></h3>
<p class="call"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></p>
${description === undefined ? "" : markdown(description)}
${parameters.length === 0 ? "" : `<h4>Parameters</h4><ul class="members">${parameters.map(parameterView).join("")}</ul>`}
${body === undefined ? "" : `<h4>Body${requestBody?.required ? "" : " (optional)"}</h4>${contentView(body)}`}
<h4>Answers</h4>
${answers.join("\n")}
<details><summary>curl</summary><pre><code>${escapeHtml(curl(document, path, method, body))}</code></pre></details>
<p class="note">${repeatable[operation["x-ringmaster"].repeatable]}</p>
</article>`;
}

function parameterView({ name, in: place, required, description, schema }: Parameter): string {
  const words: JsonSchema = description === undefined ? schema : { ...schema, description };
  return `<li><code class="name">${escapeHtml(name)}</code>${required ? "" : '<span class="optional">?</span>'} <span class="place">${place}</span> ${schemaView(words)}</li>`;
}

function answerView(status: string, { description, content = {} }: ResponseObject): string {
  const shown = Object.entries(content).map(([type, media]) =>
    type === "application/json" && status.startsWith("2")
      ? contentView(media)
      : status.startsWith("2")
        ? `<p><code>${escapeHtml(type)}</code></p>`
        : "",
  );
  const kind = status.startsWith("2") ? "good" : "bad";
  return `<div class="answer ${kind}"><span class="status">${status}</span> ${inline(description)}${shown.join("")}</div>`;
}

function contentView({ schema, example }: MediaType): string {
  return (
    (schema === undefined ? "" : `<div class="schema">${schemaView(schema)}</div>`) +
    (example === undefined ? "" : `<details><summary>Example</summary>${json(example)}</details>`)
  );
}

function curl(document: OpenApiDocument, path: string, method: string, body: MediaType | undefined): string {
  const url = `${document.servers[0]?.url ?? ""}${path}`;
  const lines = [`curl -X ${method.toUpperCase()} '${url}'`];
  if (body !== undefined) {
    lines.push("-H 'content-type: application/json'", `-d '${JSON.stringify(body.example ?? {})}'`);
  }
  return lines.join(" \\\n  ");
}

function resolve<T extends object>(document: OpenApiDocument, value: T | Reference): T {
  if (!("$ref" in value)) return value;
  const [, , kind, name] = value.$ref.split("/") as [string, string, "parameters" | "responses", string];
  return document.components[kind][name] as unknown as T;
}
