import { malformedXml } from "./errors";

export type XmlValue = string | number | boolean | undefined | XmlFields | readonly XmlValue[];
export interface XmlFields {
  readonly [element: string]: XmlValue;
}

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

export function writeXml(root: string, fields: XmlFields): string {
  const attribute = root === "Error" ? "" : ` xmlns="${namespace}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${attribute}>${writeFields(fields)}</${root}>`;
}

function writeFields(fields: XmlFields): string {
  return Object.entries(fields)
    .map(([name, value]) => writeElement(name, value))
    .join("");
}

function writeElement(name: string, value: XmlValue): string {
  if (value === undefined) return "";
  if (Array.isArray(value)) return (value as readonly XmlValue[]).map((item) => writeElement(name, item)).join("");
  const inner = typeof value === "object" ? writeFields(value as XmlFields) : escapeXml(String(value));
  return `<${name}>${inner}</${name}>`;
}

/** Escapes text. Control characters also become numeric references, as in S3, because keys may contain any. */
function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys may hold control characters
  return text.replace(/[&<>"\u0000-\u001f]/g, (character) => {
    const named = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[character];
    return named ?? `&#x${character.charCodeAt(0).toString(16)};`;
  });
}

export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const deepest = 16;
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * Parses the small documents that S3 clients send. Document types are refused, so no entity can be defined or expanded.
 */
export function parseXml(source: string): XmlElement {
  const token =
    /<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\/([^\s>]+)\s*>|<([^\s/>!?]+)((?:\s+[^\s=>]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/gy;
  const top: MutableElement = { name: "", text: "", children: [] };
  const open: MutableElement[] = [top];
  while (token.lastIndex < source.length) {
    const at = token.lastIndex;
    const match = token.exec(source);
    if (!match) throw malformedXml(`unexpected text at character ${at}`);
    const [, cdata, closing, opening, , selfClosing, text] = match;
    const current = open[open.length - 1]!;
    if (opening !== undefined) {
      const element: MutableElement = { name: localName(opening), text: "", children: [] };
      current.children.push(element);
      if (!selfClosing) open.push(element);
      if (open.length > deepest) throw malformedXml(`more than ${deepest} levels deep`);
    } else if (closing !== undefined) {
      if (open.length === 1 || current.name !== localName(closing)) throw malformedXml(`stray </${closing}>`);
      open.pop();
    } else if (cdata !== undefined) current.text += cdata;
    else if (text !== undefined) current.text += decodeEntities(text);
  }
  const [root] = top.children;
  if (open.length > 1) throw malformedXml(`<${open[open.length - 1]!.name}> is not closed`);
  if (!root || top.children.length > 1 || top.text.trim()) throw malformedXml("not one root element");
  return root;
}

interface MutableElement {
  readonly name: string;
  text: string;
  readonly children: MutableElement[];
}

const localName = (name: string) => name.slice(name.indexOf(":") + 1);

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(\w+));?/g,
    (whole, hex?: string, decimal?: string, name?: string) => {
      const code = hex ? Number.parseInt(hex, 16) : decimal ? Number.parseInt(decimal, 10) : undefined;
      if (code !== undefined && code <= 0x10ffff) return String.fromCodePoint(code);
      const named = name === undefined ? undefined : entities[name];
      if (named === undefined) throw malformedXml(`unknown entity ${whole}`);
      return named;
    },
  );
}

export function childText(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

export function childrenNamed(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}
