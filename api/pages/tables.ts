import { numberText } from "../../core/tracking/compare/numbers";
import { decodeValue, type EncodedValue, encodeValue } from "../../core/tracking/metric-values";
import { html, type Markup } from "./comparison/markup";

/** Of a value: what a table shows of it. */
const longestValue = 2_000;
/** Of a table: more are counted. */
const mostRows = 500;

export type Pair = readonly [name: string, value: Markup | string | undefined];

/** Names and values, those without a value left out; nothing where none is left. */
export function pairs(title: string, given: readonly Pair[]): Markup | undefined {
  const known = given.filter((pair): pair is readonly [string, Markup | string] => pair[1] !== undefined);
  if (known.length === 0) return undefined;
  const rows = known.slice(0, mostRows).map(
    ([name, value]) =>
      html`<tr><th>${shortened(name, 250)}</th><td>${typeof value === "string" ? shortened(value) : value}</td></tr>
`,
  );
  const count = known.length > 12 ? html` <small>${known.length}</small>` : undefined;
  return html`<section><h2>${title}${count}</h2><div class="scroll tall"><table class="pairs"><tbody>${rows}</tbody></table></div>${moreThan(known.length)}</section>`;
}

/** A table with a heading; nothing where it has no rows. */
export function listing(title: Markup | string, head: readonly string[], rows: readonly Markup[]): Markup | undefined {
  if (rows.length === 0) return undefined;
  return html`<section><h2>${title}</h2><div class="scroll tall"><table>
<thead><tr>${head.map((one) => html`<th>${one}</th>`)}</tr></thead>
<tbody>${rows.slice(0, mostRows)}</tbody></table></div>${moreThan(rows.length)}</section>`;
}

function moreThan(rows: number): Markup | undefined {
  return rows > mostRows ? html`<p class="faint">and ${rows - mostRows} more</p>` : undefined;
}

export function shortened(text: string, most = longestValue): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

export function valueText(value: number | EncodedValue): string {
  return numberText(typeof value === "number" ? encodeValue(value) : encodeValue(decodeValue(value)));
}
