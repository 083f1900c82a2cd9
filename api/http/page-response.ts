import type { RingmasterError } from "../../core/errors";
import type { Page } from "../../core/html/document";
import { pageOf } from "../../core/html/layout";
import { html } from "../../core/html/markup";
import { shortened } from "../../core/html/tables";

/** For all but the platform's pages: an uploaded HTML file must never run with the rights of the API's own pages. */
export const inertContent = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "x-content-type-options": "nosniff",
} as const;

export function pageResponse({ html, contentSecurityPolicy, referrerPolicy }: Page, status = 200): Response {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": contentSecurityPolicy,
    "x-content-type-options": "nosniff",
    "referrer-policy": referrerPolicy,
    // A page belongs to one team, and is soon outdated.
    "cache-control": "private, no-store",
  };
  return new Response(html, { status, headers });
}

/** Tests whether the response is for a person: browsers accept HTML, programs do not. */
export function isLookedAt(path: string, accept = ""): boolean {
  return path.startsWith("/api/v1/pages/") && /\btext\/html\b/.test(accept);
}

export function problemPage(error: RingmasterError, requestId: string): Response {
  const response = pageResponse(problemHtml(error, requestId), error.httpStatus);
  response.headers.set("x-request-id", requestId);
  return response;
}

function problemHtml({ code, httpStatus, message }: RingmasterError, requestId: string): Page {
  const body = html`<div class="head"><h1>${httpStatus === 404 ? "Not found" : "This page cannot be shown"}</h1><span class="badge failed">${httpStatus}</span></div>
<div class="banner bad"><pre>${shortened(message, 4_000)}</pre></div>
<p class="faint">${code}, request ${requestId}</p>`;
  return pageOf({ title: `${httpStatus} ${code}`, crumbs: [], body });
}
