import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { createProgram } from "../../cli/program";
import { scripts } from "../../package.json";
import { blocksOf, commandsOf, inlineCommands, linesOf, pages, root, withoutComment } from "./markdown";

const program = createProgram();
const named = pages().flatMap((file) => [
  ...inlineCommands(file).map((each) => ({ file, ...each })),
  ...blocksOf(file)
    .filter(({ language }) => language === "sh")
    .flatMap((block) => commandsOf(block).map(({ line, text }) => ({ file, line, text: withoutComment(text) }))),
]);

describe("a command that README or docs name", () => {
  it("has subcommands and options that there are", () => {
    const commands = named.filter(({ text }) => /^(npx )?ringmaster /.test(text));
    expect(commands.length).toBeGreaterThan(50);
    expect(faults(commands, (text) => faultOf(text.replace(/^(npx )?ringmaster /, "")))).toEqual([]);
  });

  it("is named by a message or a description of the sources as it is", () => {
    const commands = ["adapters", "api", "cli", "core", "lambdas", "local", "platform"].flatMap((folder) =>
      (readdirSync(join(root, folder), { recursive: true }) as string[])
        .filter((file) => file.endsWith(".ts"))
        .flatMap((file) => {
          const text = readFileSync(join(root, folder, file), "utf8");
          return [...text.matchAll(/`ringmaster ([^`\\]+)/g)].map(([, command]) => ({
            file: `${folder}/${file}`,
            line: text.slice(0, text.indexOf(command!)).split("\n").length,
            text: command!.replaceAll(/\$\{[^}]*\}/g, "X"),
          }));
        }),
    );
    expect(commands.length).toBeGreaterThan(50);
    expect(faults(commands, faultOf)).toEqual([]);
  });

  it("is a script of package.json, and a benchmark that there is", () => {
    const benches = readdirSync(join(root, "bench"));
    const commands = named.filter(({ text }) => text.startsWith("npm run "));
    expect(commands.length).toBeGreaterThan(10);
    const fault = (text: string): string | undefined => {
      const [, script = "", name] = /^npm run (\S+)(?: -- ([\w-]+))?/.exec(text) ?? [];
      if (!Object.hasOwn(scripts, script)) return `there is no script ${script}`;
      return script === "bench" && !benches.includes(name ?? "") ? `there is no benchmark ${name}` : undefined;
    };
    expect(faults(commands, fault)).toEqual([]);
  });

  it("names tests and programs that there are", () => {
    const fault = (text: string): string | undefined => {
      const [, file] = /(?:npx jest|^node) (test\/\S+|\S+\.js)/.exec(text) ?? [];
      if (file === undefined || file.includes("<")) return undefined;
      const found =
        existsSync(join(root, file)) ||
        (existsSync(join(root, dirname(file))) &&
          readdirSync(join(root, dirname(file))).some((each) => each.startsWith(basename(file))));
      return found ? undefined : `there is no ${file}`;
    };
    expect(faults(named, fault)).toEqual([]);
  });
});

describe("a source file that README or docs name by its path", () => {
  it("exists", () => {
    const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const path = new RegExp(`\`((?:${folders.map(({ name }) => name).join("|")})/[\\w./-]+\\.(?:ts|js|json))\``, "g");
    const files = pages().flatMap((file) =>
      linesOf(file).flatMap((line, index) =>
        [...line.matchAll(path)].map(([, name]) => ({ file, line: index + 1, text: name! })),
      ),
    );
    expect(files.length).toBeGreaterThan(50);
    expect(faults(files, (name) => (existsSync(join(root, name)) ? undefined : "it does not exist"))).toEqual([]);
  });
});

function faults(
  commands: readonly { readonly file: string; readonly line: number; readonly text: string }[],
  fault: (text: string) => string | undefined,
): readonly string[] {
  return commands.flatMap(({ file, line, text }) => {
    const found = fault(text);
    return found === undefined ? [] : [`${file}:${line}: ${text}: ${found}`];
  });
}

/** The first word that the command line does not know. */
function faultOf(text: string): string | undefined {
  let command: Command = program;
  const ancestors: Command[] = [program];
  const words = text.split(/\s+/);
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    if (word === "--" || word === "…") return undefined;
    if (word.startsWith("-") && word.length > 1) {
      const flag = word.replace(/[=,.;].*$/, "");
      const option = ancestors
        .flatMap((each) => each.options)
        .find((each) => each.long === flag || each.short === flag);
      if (flag === "--help" || flag === "--version") continue;
      if (!option) return `${command.name()} has no option ${flag}`;
      if (option.required && !word.includes("=")) i += 1;
      continue;
    }
    if (command.commands.length === 0) continue;
    const next = command.commands.find((each) => each.name() === word);
    if (!next) return `${command.name()} has no command ${word}`;
    command = next;
    ancestors.push(next);
  }
  return undefined;
}
