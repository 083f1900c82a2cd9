import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(__dirname, "..");

/** Files that the documented commands write, relative to the checkout. */
function documentedOutputs(): readonly string[] {
  const pages = [
    "README.md",
    ...readdirSync(resolve(root, "docs")).map((name) => `docs/${name}`),
    ...readdirSync(resolve(root, "examples")).map((name) => `examples/${name}/README.md`),
  ].filter((page) => page.endsWith(".md"));
  const found = pages.flatMap((page) =>
    [...readFileSync(resolve(root, page), "utf8").matchAll(/(?:prepare\.js|--html|--markdown) ([\w./-]+\.\w+)/g)].map(
      ([, file = ""]) => file,
    ),
  );
  return [...new Set(found)].sort();
}

it("git ignores every file that the documented commands write", () => {
  const outputs = documentedOutputs();
  expect(outputs).toEqual(expect.arrayContaining(["digits.parquet", "report.html"]));
  const { stdout } = spawnSync("git", ["check-ignore", "--", ...outputs], { cwd: root, encoding: "utf8" });
  expect(stdout.trim().split("\n").sort()).toEqual(outputs);
});
