import { Marked } from "marked";
import { escapeHtml, html, Markup } from "../../core/html/markup";

/** Maximum length of notes on the page; the record has all of them. */
const maxCharacters = 20_000;

/** Renders Markdown without HTML, images, and links other than web links; these are shown as text. */
const markdown = new Marked({
  async: false,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ raw }) => escapeHtml(raw),
    code: ({ text }) => `<pre><code>${escapeHtml(text)}</code></pre>\n`,
    // The page has its own first and second level.
    heading({ tokens }) {
      return `<h3>${this.parser.parseInline(tokens)}</h3>\n`;
    },
    link({ href, raw, tokens }) {
      if (!/^https?:\/\//i.test(href)) return escapeHtml(raw);
      return `<a href="${escapeHtml(href)}" rel="noopener noreferrer">${this.parser.parseInline(tokens)}</a>`;
    },
  },
});

export function notesView(notes: string): Markup {
  const cut = notes.length - maxCharacters;
  const more = cut > 0 ? html`<p class="faint">… ${cut} more characters</p>` : undefined;
  return html`<div class="notes">${rendered(notes.slice(0, maxCharacters))}${more}</div>`;
}

/** Shows notes that nest deeper than the parser can follow as plain text. */
function rendered(notes: string): Markup {
  try {
    return new Markup((markdown.parse(notes) as string).trimEnd());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return html`<pre>${notes}</pre>`;
  }
}
