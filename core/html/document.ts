import { createHash } from "node:crypto";
import { html, Markup } from "./markup";

export interface Page {
  readonly html: string;
  readonly contentSecurityPolicy: string;
  readonly referrerPolicy: string;
}

interface DocumentParts {
  readonly title: string;
  readonly style: string;
  readonly script?: string;
  readonly body: Markup;
  readonly bodyClass?: string;
  /** Directives of the policy in addition to those for style and script. */
  readonly directives?: string;
  /** Flags of the sandbox in which the header puts the page; default: no sandbox. */
  readonly sandbox?: string;
  readonly refreshSeconds?: number;
  /** Default: `no-referrer`. With it, a browser states no origin for a form that it posts. */
  readonly referrerPolicy?: "no-referrer" | "same-origin";
}

/**
 * Renders a self-contained page. Its policy allows only its own style and script, by their digests, so that injected
 * content cannot act in the API's name.
 */
export function documentOf(parts: DocumentParts): Page {
  const { title, style, script, body, bodyClass, directives = "form-action 'none'", sandbox, refreshSeconds } = parts;
  const { referrerPolicy = "no-referrer" } = parts;
  const scripts = script === undefined ? "" : ` script-src '${digest(script)}';`;
  const policy = `default-src 'none'; style-src '${digest(style)}';${scripts} base-uri 'none'; ${directives}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="${referrerPolicy}">${refreshSeconds && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body${bodyClass && html` class="${bodyClass}"`}>
${body}${script && html`\n<script>${new Markup(script)}</script>`}
</body>
</html>
`;
  const sandboxed = sandbox === undefined ? "" : `; sandbox ${sandbox}`;
  const contentSecurityPolicy = `${policy}; frame-ancestors 'none'${sandboxed}`.trimEnd();
  return { html: page.text, contentSecurityPolicy, referrerPolicy };
}

function digest(content: string): string {
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}
