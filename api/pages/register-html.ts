import { documentOf, type Page } from "../../core/html/document";
import { html } from "../../core/html/markup";
import { pageStyle } from "../../core/html/style";
import { shortened } from "../../core/html/tables";
import { outcomeText } from "../../core/runs/run";
import type { Run } from "../../core/runs/shapes";

/**
 * Asks for a confirmation. It has an origin, unlike other pages, so that the browser can state where the form was made.
 */
export function registerHtml({ runId, outcome }: Run, model: string): Page {
  const action = `register?${new URLSearchParams({ as: model }).toString()}`;
  const body = html`<div class="head"><h1>Register ${shortened(runId, 250)} as ${shortened(model, 250)}</h1></div>
${outcome && html`<p class="banner">${shortened(outcomeText(outcome), 2_000)}</p>`}
<p>The run's model becomes a version of <b>${model}</b>. Its gates judge it now. If they pass, an approval is requested by the policy of the model.</p>
<form class="filter" method="post" action="${action}"><button>Register</button> <a class="button" href="../${encodeURIComponent(runId)}">Cancel</a></form>`;
  return documentOf({
    title: `Register ${runId}`,
    style: pageStyle,
    directives: "form-action 'self'",
    referrerPolicy: "same-origin",
    bodyClass: "page",
    body,
  });
}
