import * as z from "zod";
import type { InvalidInputError } from "../../core/errors";
import { parseYamlInput } from "../../core/yaml-input";

it.each([
  ["a flow list", "[".repeat(100_000), 1],
  ["a flow mapping", "{a: ".repeat(100_000), 1],
  ["a block list", "- ".repeat(100_000), 1],
  ["indented mappings", Array.from({ length: 3_000 }, (_, i) => `${" ".repeat(i)}a:\n`).join(""), 66],
])("limits the levels of %s, because the composer of YAML is recursive", (_case, text, line) => {
  expect(() => parseYamlInput("job.yaml", text, z.unknown())).toThrow(
    `job.yaml is too deep: line ${line}: (document) must have at most 64 levels`,
  );
});

it("reads 60 levels, and brackets in texts", () => {
  const text = `a: ${"[".repeat(60)}${"]".repeat(60)}\nb: |\n  ${"[".repeat(500)}\nc: "${"[".repeat(500)}"\n`;
  expect(parseYamlInput("job.yaml", text, z.unknown()).value).toMatchObject({ c: "[".repeat(500) });
});

it("reports the first ten syntax errors of a file, because one broken line can give an error for each later one", () => {
  let found: InvalidInputError | undefined;
  try {
    parseYamlInput("schema.yaml", `a: { b: 1\n${"c: [1\n".repeat(50)}`, z.unknown());
  } catch (error) {
    found = error as InvalidInputError;
  }
  expect(found!.details.problems).toHaveLength(10);
});
