import { html, type Markup } from "./markup";

const maxValue = 2_000;
const maxRows = 500;

export type Pair = readonly [name: string, value: Markup | string | undefined];

/** Renders names and values, without missing values; nothing if none is left. */
export function pairs(title: string, entries: readonly Pair[]): Markup | undefined {
  const list = entries.filter((pair): pair is readonly [string, Markup | string] => pair[1] !== undefined);
  if (list.length === 0) return undefined;
  const rows = list.slice(0, maxRows).map(
    ([name, value]) =>
      html`<tr><th>${shortened(name, 250)}</th><td>${typeof value === "string" ? shortened(value) : value}</td></tr>
`,
  );
  const count = list.length > 12 ? html` <small>${list.length}</small>` : undefined;
  return html`<section><h2>${title}${count}</h2><div class="scroll tall"><table class="pairs"><tbody>${rows}</tbody></table></div>${moreThan(list.length)}</section>`;
}

export function listing(title: Markup | string, head: readonly string[], rows: readonly Markup[]): Markup | undefined {
  if (rows.length === 0) return undefined;
  return html`<section><h2>${title}</h2><div class="scroll tall"><table>
<thead><tr>${head.map((one) => html`<th>${one}</th>`)}</tr></thead>
<tbody>${rows.slice(0, maxRows)}</tbody></table></div>${moreThan(rows.length)}</section>`;
}

function moreThan(rows: number): Markup | undefined {
  return rows > maxRows ? html`<p class="faint">and ${rows - maxRows} more</p>` : undefined;
}

export function shortened(text: string, most = maxValue): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}
