import { html, type Markup } from "../compare/html/markup";

/** Longer ones go on in the record. */
const mostCharacters = 20_000;

/**
 * The Markdown that people note things in: headings, lists, code, **strong**, *emphasis*, links to the web. All else is shown as it is written; no HTML of
 * its own, no images, no links of other kinds.
 */
export function notesView(notes: string): Markup {
  const cut = notes.length > mostCharacters;
  const blocks = blocksOf(notes.slice(0, mostCharacters));
  return html`<div class="notes">${blocks}${cut ? html`<p class="faint">… ${notes.length - mostCharacters} more characters</p>` : undefined}</div>`;
}

function blocksOf(text: string): readonly Markup[] {
  const blocks: Markup[] = [];
  const lines = text.split(/\r?\n/);
  let at = 0;
  const takeWhile = (belongs: (line: string) => boolean): readonly string[] => {
    const from = at;
    while (at < lines.length && belongs(lines[at]!)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    if (line.trim() === "") at += 1;
    else if (/^\s{0,3}```/.test(line)) {
      at += 1;
      const code = takeWhile((one) => !/^\s{0,3}```/.test(one));
      at += 1;
      blocks.push(html`<pre><code>${code.join("\n")}</code></pre>`);
    } else if (/^#{1,6}\s/.test(line)) {
      at += 1;
      blocks.push(html`<h3>${inline(line.replace(/^#+\s+/, ""))}</h3>`);
    } else if (isItem(line)) {
      blocks.push(
        html`<ul>${takeWhile(isItem).map((one) => html`<li>${inline(one.replace(itemMark, ""))}</li>`)}</ul>`,
      );
    } else {
      // The first line belongs to it whatever it looks like: there is always something taken.
      at += 1;
      const rest = takeWhile((one) => one.trim() !== "" && !isItem(one) && !/^(?:#{1,6}\s|\s{0,3}```)/.test(one));
      blocks.push(html`<p>${inline([line, ...rest].join("\n"))}</p>`);
    }
  }
  return blocks;
}

const itemMark = /^\s{0,8}(?:[-*+]|\d{1,4}[.)])\s+/;

function isItem(line: string): boolean {
  return itemMark.test(line);
}

const span =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|\[([^\]\n]{1,500})\]\((https?:\/\/[^\s()<>"']{1,2000})\)/g;

function inline(text: string): readonly (Markup | string)[] {
  const parts: (Markup | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(span)) {
    const [whole, code, strong, emphasis, words, href] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (strong !== undefined) parts.push(html`<strong>${strong}</strong>`);
    else if (emphasis !== undefined) parts.push(html`<em>${emphasis}</em>`);
    else parts.push(html`<a href="${href}" rel="noopener noreferrer">${words}</a>`);
  }
  parts.push(text.slice(end));
  return parts;
}
