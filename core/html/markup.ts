const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML content and for attributes between quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => entities[mark] ?? mark);
}

/** Safe markup. A page accepts nothing else. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | undefined | readonly (Markup | string | number | undefined)[];

/** Builds markup from a template. Values are escaped unless they are markup; lists are joined. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const texts = strings.map((text, at) => (at < parts.length ? text + markupOf(parts[at]) : text));
  return new Markup(texts.join(""));
}

function markupOf(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Markup) return part.text;
  if (typeof part === "object") return part.map(markupOf).join("");
  return escapeHtml(String(part));
}

/** Encodes JSON for a `script` element of that type. No `<` can end the element early. */
export function jsonMarkup(value: unknown): Markup {
  const json = JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
  return new Markup(json);
}
