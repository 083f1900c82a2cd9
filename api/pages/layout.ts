import { createHash } from "node:crypto";
import { reportScript } from "./comparison/script";
import { reportStyle } from "./comparison/style";
import { html, Markup } from "./markup";
import { pageScript } from "./script";
import { pageStyle } from "./style";

export interface Page {
  readonly html: string;
  /**
   * Value of the header. It allows only the page's own style and script, by their digests, in a sandbox without an
   * origin, so that injected content could not act in the API's name.
   */
  readonly contentSecurityPolicy: string;
}

interface PageParts {
  readonly title: string;
  /** Links from the whole to the part, without the page itself. */
  readonly crumbs: readonly Markup[];
  readonly body: Markup;
  /** Time of creation, ISO 8601. */
  readonly at?: string;
  /** Present for a page about something that still changes. */
  readonly refreshSeconds?: number;
}

const style = reportStyle + pageStyle;
const script = reportScript + pageScript;
const policy = `default-src 'none'; style-src '${digest(style)}'; script-src '${digest(script)}'; img-src data:; base-uri 'none'; form-action 'self'`;

/** Renders a self-contained page. */
export function pageOf({ title, crumbs, body, at, refreshSeconds }: PageParts): Page {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">${refreshSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body class="page">
<nav>${crumbs.map((crumb) => html`${crumb} <span>/</span> `)}</nav>
${body}
${at === undefined ? undefined : html`<footer>generated ${at.slice(0, 19).replace("T", " ")} UTC by Ringmaster${refreshSeconds === undefined ? undefined : ` · refreshes every ${refreshSeconds} s`}</footer>`}
<script>${new Markup(script)}</script>
</body>
</html>
`;
  return {
    html: page.text,
    contentSecurityPolicy: `${policy}; frame-ancestors 'none'; sandbox allow-scripts allow-forms allow-downloads`,
  };
}

/** Renders a link, or only its text if it has no target. */
export function link(href: string | undefined, words: Markup | string): Markup {
  return href === undefined ? html`${words}` : html`<a href="${href}">${words}</a>`;
}

export function digest(content: string): string {
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}
