import { html, type Markup } from "../../core/html/markup";

const maxLines = 1_200;
/** Maximum length of a line; a minified file has lines that nobody reads. */
const maxLine = 400;

/** Renders a patch with coloured added and removed lines. */
export function diffView(patch: string, cut: boolean): Markup {
  const lines = patch.split("\n");
  const shown = lines.slice(0, maxLines);
  const more = cut || lines.length > shown.length;
  return html`<div class="scroll tall"><pre class="diff">${shown.map(
    (line) => html`<span class="${kindOf(line)}">${shortened(line)}</span>`,
  )}</pre></div>${more ? html`<p class="faint">Patch truncated.</p>` : undefined}`;
}

function kindOf(line: string): string {
  if (line.startsWith("diff ") || line.startsWith("+++ ") || line.startsWith("--- ")) return "file";
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "same";
}

function shortened(line: string): string {
  if (line === "") return " ";
  return line.length <= maxLine ? line : `${line.slice(0, maxLine)}… (${line.length} characters)`;
}
