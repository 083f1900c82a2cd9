import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export const root = join(__dirname, "../..");

export interface Block {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly lines: readonly string[];
}

export interface PrintedCommand {
  readonly line: number;
  readonly text: string;
  /** In a `console` block: the output; empty elsewhere. */
  readonly output: readonly string[];
}

const folders = ["docs", "docs/adr", "docs/api", "bench"];
const singles = ["README.md", "state-machines/README.md", "test/peers/mlflow/README.md"];
/** Each folder in them may have a page. */
const parents = ["bench", "examples"];

export function pages(): readonly string[] {
  const inside = parents.flatMap((parent) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${parent}/${name}`),
  );
  return [...singles, ...[...folders, ...inside].flatMap(markdownIn)].sort();
}

function markdownIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => relative(root, join(root, folder, name)));
}

export function linesOf(file: string): readonly string[] {
  return readFileSync(join(root, file), "utf8").split("\n");
}

export function blocksOf(file: string, lines: readonly string[] = linesOf(file)): readonly Block[] {
  const blocks: Block[] = [];
  let open: { indent: number; block: Block & { lines: string[] } } | undefined;
  lines.forEach((text, index) => {
    const fence = /^(\s*)```(\S*)\s*$/.exec(text);
    if (open === undefined && fence) {
      open = { indent: fence[1]!.length, block: { file, line: index + 2, language: fence[2]!, lines: [] } };
    } else if (open && fence) {
      blocks.push(open.block);
      open = undefined;
    } else open?.block.lines.push(text.slice(open.indent));
  });
  return blocks;
}

/** The commands of a block, each whole: continued lines and quotes over several lines are one command. */
export function commandsOf(block: Block): readonly PrintedCommand[] {
  if (block.language === "console") return consoleCommands(block);
  if (block.language === "python") return [{ line: block.line, text: block.lines.join("\n"), output: [] }];
  const commands: PrintedCommand[] = [];
  let open: { line: number; text: string } | undefined;
  block.lines.forEach((text, index) => {
    if (open) open.text += `\n${text}`;
    else if (text.trim() === "" || text.trimStart().startsWith("#")) return;
    else open = { line: block.line + index, text };
    if (!isWhole(open.text)) return;
    commands.push({ ...open, output: [] });
    open = undefined;
  });
  if (open) throw new Error(`${block.file}:${(open as { line: number }).line}: the command has no end`);
  return commands;
}

function consoleCommands({ lines, line }: Block): readonly PrintedCommand[] {
  const commands: { line: number; text: string; output: string[] }[] = [];
  lines.forEach((text, index) => {
    if (text.startsWith("$ ")) commands.push({ line: line + index, text: text.slice(2), output: [] });
    else commands.at(-1)?.output.push(text);
  });
  return commands;
}

/** Whether a shell would run it: no open quote, no trailing backslash, no open loop. */
function isWhole(text: string): boolean {
  let quote = "";
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i]!;
    if (quote === "'") quote = character === "'" ? "" : quote;
    else if (character === "\\") i += 1;
    else if (quote === '"') quote = character === '"' ? "" : quote;
    else if (character === "'" || character === '"') quote = character;
    else if (character === "#" && /\s/.test(text[i - 1] ?? " ")) {
      const end = text.indexOf("\n", i);
      if (end === -1) break;
      i = end;
    }
  }
  return quote === "" && !text.endsWith("\\") && (!/^\s*for\b/.test(text) || /\bdone\b/.test(text));
}

/** Returns the shell script that runs the command. */
export function scriptOf({ language }: Block, { text }: PrintedCommand): string {
  return language === "python" ? `python - <<'PYTHON'\n${text}\nPYTHON` : withoutComment(text).trim();
}

export function withoutComment(text: string): string {
  return text.replace(/\s+#\s[^'"]*$/, "");
}

export function inlineCommands(file: string): readonly { readonly line: number; readonly text: string }[] {
  let fenced = false;
  return linesOf(file).flatMap((text, index) => {
    if (/^\s*```/.test(text)) {
      fenced = !fenced;
      return [];
    }
    if (fenced) return [];
    const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!);
    return spans
      .filter((span) => /^(npx ringmaster|ringmaster|npm run|npx jest|node) \S/.test(span))
      .map((span) => ({ line: index + 1, text: span }));
  });
}

const commandStart = /^\s*(\$ )?((export \w+=|RINGMASTER_\w+=\S+ )|(npx|npm|node|curl|aws|python|pip|ringmaster) \S)/;

/** Lines that look like commands and stand in no block that is run. */
export function strayCommands(file: string): readonly string[] {
  const lines = linesOf(file);
  const checked = new Set<number>();
  for (const { language, line, lines: inside } of blocksOf(file, lines))
    inside.forEach((_, index) => {
      if (language !== "") checked.add(line + index);
    });
  return lines.flatMap((text, index) =>
    text.startsWith("    ") && commandStart.test(text) && !checked.has(index + 1)
      ? [`${file}:${index + 1}: ${text}`]
      : [],
  );
}
