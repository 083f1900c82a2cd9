import { documentOf, type Page } from "../core/html/document";
import { html, Markup } from "../core/html/markup";
import type { JsonSchema, OpenApiDocument, Operation, Parameter, Reference, ResponseObject } from "./openapi/model";

const style = `
:root{color-scheme:light dark;--soft:#6a737d;--line:#8884;--field:#8881;--link:light-dark(#0550ae,#79c0ff)}
*{box-sizing:border-box}body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);font:15px/1.55 system-ui,sans-serif}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line);background:var(--field)}
nav a{display:block;color:inherit}nav h2{font-size:.8rem;text-transform:uppercase;color:var(--soft)}
input{width:100%;padding:.45rem;font:inherit}main{padding:1.5rem 2.5rem 6rem;max-width:60rem}a{color:var(--link);text-decoration:none}article{padding:1.2rem 0;border-top:1px solid var(--line)}
code,pre{font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}pre{padding:.7rem;overflow:auto;background:var(--field)}
ul{margin:.3rem 0;padding-left:1.1rem;list-style:none;border-left:2px solid var(--line)}small{color:var(--soft)}[hidden]{display:none}
@media(max-width:52rem){body{display:block}nav{position:static;height:auto}}
`;

/** Hides the entries that lack a word of the search. The page is complete without the script. */
const script = `
const field=document.querySelector("input"),hits=[...document.querySelectorAll("[data-search]")];
field.hidden=false;
field.addEventListener("input",()=>{
  const words=field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for(const hit of hits)hit.hidden=!words.every((word)=>hit.dataset.search.includes(word));
});
`;

export function documentationPage(document: OpenApiDocument): Page {
  const { info, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const groups = tags.map((tag) => ({
    ...tag,
    entries: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const body = html`<nav aria-label="Operations">
<input type="search" placeholder="Search" aria-label="Search operations and schemas" hidden>
${groups.map(
  ({ name, entries }) =>
    html`<h2>${name}</h2>${entries.map(
      ({ path, method, operation }) =>
        html`<a href="#${operation.operationId}" data-search="${searchText(path, method, operation)}">${inline(operation.summary)}</a>`,
    )}`,
)}<h2><a href="#schemas">Schemas</a></h2></nav>
<main><h1>${info.title} API</h1><p>${inline(info.summary)} <a href="openapi.json">openapi.json</a></p>
${paragraphs(info.description)}
${groups.map(
  ({ name, description, entries }) => html`<section><h2>${name}</h2><p>${inline(description)}</p>
${entries.map((entry) => operationHtml(document, entry.path, entry.method, entry.operation))}</section>`,
)}
<section id="schemas"><h2>Schemas</h2>${Object.entries(components.schemas).map(
    ([
      name,
      schema,
    ]) => html`<article id="schema-${name}" data-search="${`schema ${name}`.toLowerCase()}"><h3>${name}</h3>
${schemaHtml(schema)}</article>`,
  )}</section></main>`;
  return documentOf({ title: `${info.title} API`, style, script, body });
}

function operationHtml(document: OpenApiDocument, path: string, method: string, operation: Operation): Markup {
  const { operationId, summary, description, requestBody, responses } = operation;
  const body = requestBody?.content["application/json"];
  return html`<article id="${operationId}" data-search="${searchText(path, method, operation)}">
<h3><a href="#${operationId}">${inline(summary)}</a></h3><p><strong>${method}</strong> <code>${path}</code></p>
${description === undefined ? "" : paragraphs(description)}
<ul>${operation.parameters.map((parameter) => {
    const { name, in: place, required, schema, description: text } = resolve<Parameter>(document, parameter);
    return member(name, required, text === undefined ? schema : { ...schema, description: text }, place);
  })}</ul>
${body?.schema ? html`<h4>Body${requestBody?.required ? "" : " (optional)"}</h4>${schemaHtml(body.schema)}${example(body.example)}` : ""}
<h4>Responses</h4>${Object.entries(responses).map(([status, given]) => {
    const { description: text, content = {} } = resolve<ResponseObject>(document, given);
    const shown = status.startsWith("2") ? Object.entries(content) : [];
    return html`<div><strong>${status}</strong> ${inline(text)} ${shown.map(
      ([type, media]) =>
        html`${media.schema ? schemaHtml(media.schema) : html`<code>${type}</code>`}${example(media.example)}`,
    )}</div>`;
  })}
<small>Repeating the request is safe: ${operation["x-ringmaster"].repeatable}.</small></article>`;
}

function schemaHtml(schema: JsonSchema): Markup {
  const { properties, required = [], items, anyOf, oneOf, additionalProperties, description } = schema;
  const nested = [items, additionalProperties, ...((anyOf ?? oneOf ?? []) as readonly unknown[])];
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(([name, one]) =>
    member(name, (required as readonly string[]).includes(name), one),
  );
  return html`<small>${typeOf(schema)}</small> ${typeof description === "string" ? inline(description) : ""}${
    members.length === 0 ? "" : html`<ul>${members}</ul>`
  }${nested.filter(hasMembers).map(schemaHtml)}`;
}

function member(name: string, required: boolean, schema: JsonSchema, place = ""): Markup {
  return html`<li><code>${name}</code>${required ? "" : "?"} <small>${place}</small> ${schemaHtml(schema)}</li>`;
}

const hasMembers = (value: unknown): value is JsonSchema =>
  typeof value === "object" && Object.values(value ?? {}).some((each) => typeof each === "object");

const hidden = new Set(["description", "properties", "required", "items", "anyOf", "oneOf", "example", "type"]);

/** Returns the type with its bounds: `integer, minimum 1`. */
function typeOf(schema: JsonSchema): Markup {
  const { $ref, items, anyOf, oneOf, type } = schema;
  const name = typeof $ref === "string" ? $ref.slice($ref.lastIndexOf("/") + 1) : undefined;
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  const choices = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  if (choices) return html`${choices.map((one, at) => html`${at === 0 ? "" : " or "}${typeOf(one)}`)}`;
  if (type === "array") return html`list of ${typeOf((items ?? {}) as JsonSchema)}`;
  const bounds = Object.entries(schema).filter(([key, value]) => !hidden.has(key) && value !== false);
  return html`${String(type ?? "any")}${bounds.map(([key, value]) => html`, ${key} <code>${JSON.stringify(value)}</code>`)}`;
}

function example(value: unknown): Markup | string {
  if (value === undefined) return "";
  return html`<details><summary>Example</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`;
}

const paragraphs = (text: string): Markup[] => text.split(/\n{2,}/).map((one) => html`<p>${inline(one)}</p>`);

/** Renders `code`, **strong** and *emphasis*. */
function inline(text: string): Markup {
  const escaped = html`${text}`.text;
  const code = escaped.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
  const strong = code.replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
  return new Markup(strong.replaceAll(/\*([^*\s][^*]*)\*/g, "<em>$1</em>"));
}

const searchText = (path: string, method: string, { operationId, summary }: Operation): string =>
  `${operationId} ${method} ${path} ${summary}`.toLowerCase();

function resolve<T extends object>(document: OpenApiDocument, value: T | Reference): T {
  if (!("$ref" in value)) return value;
  const [, , kind, name] = value.$ref.split("/") as [string, string, "parameters" | "responses", string];
  return document.components[kind][name] as unknown as T;
}
