import type { RingmasterError } from "../../core/errors";
import { html } from "./comparison/markup";
import { type Page, pageOf } from "./layout";
import { shortened } from "./tables";

/** Renders the page for an error. */
export function problemHtml({ code, httpStatus, message }: RingmasterError, requestId: string): Page {
  const body = html`<div class="head"><h1>${httpStatus === 404 ? "Not found" : "This page cannot be shown"}</h1><span class="badge failed">${httpStatus}</span></div>
<div class="banner bad"><pre>${shortened(message, 4_000)}</pre></div>
<p class="faint">${code}, request ${requestId}</p>`;
  return pageOf({ title: `${httpStatus} ${code}`, crumbs: [], body });
}
