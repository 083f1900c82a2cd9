import { documentOf, type Page } from "./document";
import { html, type Markup } from "./markup";
import { reportStyle } from "./report-style";
import { reportScript } from "./script";
import { pageStyle } from "./style";

interface PageParts {
  readonly title: string;
  /** Links from the whole to the part, without the page itself. */
  readonly crumbs: readonly Markup[];
  readonly body: Markup;
  /** Time of creation, ISO 8601. */
  readonly at?: string;
  readonly refreshSeconds?: number;
}

/** Renders a page of the API, in a sandbox without an origin. */
export function pageOf({ title, crumbs, body, at, refreshSeconds }: PageParts): Page {
  return documentOf({
    title,
    style: reportStyle + pageStyle,
    script: reportScript + pageScript,
    directives: "img-src data:; form-action 'self'",
    sandbox: "allow-scripts allow-forms allow-downloads",
    refreshSeconds,
    bodyClass: "page",
    body: html`<nav>${crumbs.map((crumb) => html`${crumb} <span>/</span> `)}</nav>
${body}
${at && html`<footer>generated ${at.slice(0, 19).replace("T", " ")} UTC by Ringmaster${refreshSeconds && ` · refreshes every ${refreshSeconds} s`}</footer>`}`,
  });
}

export function link(href: string | undefined, words: Markup | string): Markup {
  return href === undefined ? html`${words}` : html`<a href="${href}">${words}</a>`;
}

/**
 * The script of pages in addition to the report's: compares the selected runs, and selects a digest for copying at a
 * click.
 */
const pageScript = `
{
  const compare = document.querySelector("[data-compare]");
  if (compare) {
    const boxes = [...document.querySelectorAll("input[name=pick]")];
    const update = () => {
      const picked = boxes.filter((box) => box.checked).map((box) => box.value);
      compare.textContent = picked.length === 0 ? compare.dataset.all : "compare " + picked.length + " selected";
      compare.href = picked.length === 0 ? compare.dataset.href : compare.dataset.compare + encodeURIComponent(JSON.stringify(picked));
    };
    for (const box of boxes) box.addEventListener("change", update);
    // A page that the browser returns to keeps its selection.
    addEventListener("pageshow", update);
  }
  for (const code of document.querySelectorAll("code.whole")) {
    code.addEventListener("click", () => getSelection().selectAllChildren(code));
  }
}
`;
