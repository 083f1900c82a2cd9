import * as z from "zod";
import type { InvalidInputError } from "../../core/errors";
import { parseYamlInput } from "../../core/yaml-input";

it("reports the first ten syntax errors of a file, because one broken line can give an error for each later one", () => {
  let found: InvalidInputError | undefined;
  try {
    parseYamlInput("schema.yaml", `a: { b: 1\n${"c: [1\n".repeat(50)}`, z.unknown());
  } catch (error) {
    found = error as InvalidInputError;
  }
  expect(found!.details.problems).toHaveLength(10);
});
