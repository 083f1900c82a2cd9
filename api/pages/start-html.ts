import { documentOf, type Page } from "../../core/html/document";
import { html } from "../../core/html/markup";

/**
 * Redirects links of MLflow's client, whose target is after the `#`. Only ids are taken, so they lead to the API's
 * pages.
 */
export const startScript = `
"use strict";
const go = () => {
  const part = (text) => { try { return encodeURIComponent(decodeURIComponent(text)); } catch { return undefined; } };
  const [, experiment, run] = /^#\\/experiments\\/(\\d{1,12})(?:\\/runs\\/([^/?#]{1,255}))?(?:[/?].*)?$/.exec(location.hash) ?? [];
  const name = run === undefined ? undefined : part(run);
  if (name !== undefined && !/^\\.{1,2}$/.test(name)) location.replace("api/v1/pages/runs/" + name);
  else if (experiment !== undefined) location.replace("api/v1/pages/experiments/" + experiment);
  else if (location.hash === "" || location.hash === "#/" || location.hash === "#/experiments") location.replace("api/v1/pages/experiments");
};
addEventListener("hashchange", go);
go();
`;

const startStyle = `
:root { color-scheme: light dark; } body { font: 15px/1.5 system-ui, sans-serif; max-width: 560px; margin: 15vh auto 0; padding: 0 24px; } a { display: block; margin: 6px 0; }
`;

export function startHtml(): Page {
  return documentOf({
    title: "Ringmaster",
    style: startStyle,
    script: startScript,
    body: html`<h1>Ringmaster</h1>
<p>There is no page at this address. Available pages:</p>
<a href="api/v1/pages/experiments">experiments and their runs</a>
<a href="api/v1/docs">API reference</a>`,
  });
}
