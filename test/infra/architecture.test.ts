import fs from "node:fs";
import path from "node:path";
import { stateMachineText } from "../../state-machines/definition";
import { functionPermissions } from "../support/permissions";
import { drawDeployment } from "./diagram";
import { repository } from "./synthesized";

const file = path.join(repository, "docs", "architecture.md");
const text = fs.readFileSync(file, "utf8");
const definition = stateMachineText();
const drawn = drawDeployment(definition, functionPermissions);

describe("docs/architecture.md", () => {
  it("draws what is deployed", () => {
    if (process.env["UPDATE_DOCS"]) {
      const updated = text.replace(
        /(```mermaid\n)flowchart LR\n {2}callers[\s\S]*?(\n```)/,
        (_all, head, tail) => head + drawn + tail,
      );
      fs.writeFileSync(file, updated);
    } else expect(text).toContain(`\`\`\`mermaid\n${drawn}\n\`\`\``);
  });

  it("names the stacks that there are, and no other", () => {
    const stacks = fs
      .readdirSync(path.join(repository, "infra", "stacks"))
      .map((name) => name.replace("-stack.ts", ""));
    const section = text.slice(text.indexOf("## What is deployed"), text.indexOf("The following calls"));
    const named = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(stacks.sort());
  });

  it("names folders that there are", () => {
    const section = text.slice(0, text.indexOf("`core/` has one folder"));
    for (const [, folder] of section.matchAll(/^\| `([\w-]+)\/`/gm))
      expect(fs.existsSync(path.join(repository, folder!))).toBe(true);
  });

  it("lists each folder of core/", () => {
    const section = text.slice(text.indexOf("`core/` has one folder"), text.indexOf("## Where to look"));
    const rows = [...section.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell]) => cell);
    const listed = rows.flatMap((cell) => [...cell!.matchAll(/`([\w-]+)\/`/g)].map(([, name]) => name));
    const folders = fs.readdirSync(path.join(repository, "core"), { withFileTypes: true });
    expect(listed.sort()).toEqual(folders.filter((entry) => entry.isDirectory()).map(({ name }) => name));
  });
});
