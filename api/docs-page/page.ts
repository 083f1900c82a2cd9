import { createHash } from "node:crypto";
import type { OpenApiDocument } from "../openapi/model";
import { script, style } from "./assets";
import { escapeHtml, inline, json, markdown } from "./html";
import { operationView } from "./operation-view";
import { schemaView } from "./schema-view";

export interface Page {
  readonly html: string;
  /** Allows the page's own style and script by their digests, and nothing else at all. */
  readonly contentSecurityPolicy: string;
}

/** The document as one self-contained page, whole without its script. */
export function documentationPage(document: OpenApiDocument): Page {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const menu = groups.map(
    ({ name, operations: own }) =>
      `<div data-group><h2>${escapeHtml(name)}</h2><ul>${own
        .map(({ path, method, operation: { operationId, summary } }) => {
          const words = escapeHtml(`${operationId} ${method} ${path} ${summary}`.toLowerCase());
          return `<li data-search="${words}"><a href="#${operationId}">${inline(summary)}</a></li>`;
        })
        .join("")}</ul></div>`,
  );
  const sections = groups.map(
    ({ name, description, operations: own }) =>
      `<section data-group><h2>${escapeHtml(name)}</h2><p>${inline(description)}</p>
${own.map(({ path, method, operation }) => operationView(document, path, method, operation)).join("\n")}</section>`,
  );
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<article id="schema-${name}" data-search="${escapeHtml(`schema ${name}`.toLowerCase())}"><h3><a href="#schema-${name}">${name}</a></h3>
${schemaView(schema)}${schema["example"] === undefined ? "" : json(schema["example"])}</article>`,
  );
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)} API</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Operations">
<input type="search" placeholder="Search ( / )" aria-label="Search operations and schemas" hidden>
${menu.join("\n")}
<div><h2><a href="#schemas">Schemas</a></h2></div>
</nav>
<main>
<h1>${escapeHtml(document.info.title)} API</h1>
<p>${inline(document.info.summary)} <a href="openapi.json">openapi.json</a></p>
${markdown(document.info.description)}
${sections.join("\n")}
<section data-group id="schemas"><h2>Schemas</h2>
${schemas.join("\n")}</section>
</main>
<script>${script}</script>
</body>
</html>
`;
  return {
    html,
    contentSecurityPolicy: `default-src 'none'; style-src '${digestOf(style)}'; script-src '${digestOf(script)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
