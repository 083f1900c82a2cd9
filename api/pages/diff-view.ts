import { html, type Markup } from "./comparison/markup";

const mostLines = 1_200;
/** A line of a minified file says nothing to anybody. */
const longestLine = 400;

/** A patch with what came and what went in colours. */
export function diffView(patch: string, cut: boolean): Markup {
  const lines = patch.split("\n");
  const shown = lines.slice(0, mostLines);
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
  return line.length <= longestLine ? line : `${line.slice(0, longestLine)}… (${line.length} characters)`;
}
