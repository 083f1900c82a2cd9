import { readFileSync } from "node:fs";
import path from "node:path";
import { scripts } from "../../package.json";

const read = (name: string): string => readFileSync(path.join(__dirname, "../../bench", name), "utf8");

/** Benchmarks of the registry in bench/main.ts. The module runs one when it is loaded, so its text is read. */
function benchmarks(): readonly string[] {
  const [, entries = ""] = /const benches.* = \{\n([\s\S]*?)\n\};/.exec(read("main.ts")) ?? [];
  return [...entries.matchAll(/^ {2}"?([\w-]+)"?: /gm)].map(([, name]) => name!);
}

/** Benchmarks of the table of commands: `npm run bench -- NAME`, or a script of package.json that runs one. */
function documented(): readonly string[] {
  const [, section = ""] = /\n## Commands\n([\s\S]*?)\n## /.exec(read("README.md")) ?? [];
  return [...section.matchAll(/^\| `npm run ([^`]+)` \|/gm)].map(([, command = ""]) => {
    const [script = "", , argument] = command.split(" ");
    return argument ?? (scripts as Readonly<Record<string, string>>)[script]!.split(" ").at(-1)!;
  });
}

it("bench/README.md has one row for each benchmark, and for nothing else", () => {
  expect(benchmarks().length).toBeGreaterThan(10);
  expect([...documented()].sort()).toEqual([...benchmarks()].sort());
});
