import { createHash } from "node:crypto";
import { html, Markup } from "./comparison/markup";
import { reportScript } from "./comparison/script";
import { reportStyle } from "./comparison/style";
import { pageScript } from "./script";
import { pageStyle } from "./style";

export interface Page {
  readonly html: string;
  /**
   * To be sent with it: its own style and script by their digests and nothing else, and in a sandbox without an origin, so that whatever it were made to do it
   * could not do in the API's name.
   */
  readonly contentSecurityPolicy: string;
}

interface PageParts {
  readonly title: string;
  /** From the whole to the part; the page itself is left out. */
  readonly crumbs: readonly Markup[];
  readonly body: Markup;
  /** When it was made, ISO 8601. */
  readonly at?: string;
  /** Of what still goes on. */
  readonly refreshSeconds?: number;
}

const style = reportStyle + pageStyle;
const script = reportScript + pageScript;
const policy = `default-src 'none'; style-src '${digest(style)}'; script-src '${digest(script)}'; img-src data:; base-uri 'none'; form-action 'self'`;

/** A page that needs nothing beside itself, as the comparison does. */
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

/** A link, or its words alone where it leads nowhere. */
export function link(href: string | undefined, words: Markup | string): Markup {
  return href === undefined ? html`${words}` : html`<a href="${href}">${words}</a>`;
}

export function digest(content: string): string {
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}
