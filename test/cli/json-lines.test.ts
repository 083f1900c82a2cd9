import * as fs from "node:fs";
import * as path from "node:path";
import { readLines } from "../../cli/json-lines";
import { loggedRow } from "../../core/drift/shapes";
import { temporaryFolder } from "../support/temporary-folder";

const directory = temporaryFolder("json-lines");

const row = { unit: "a", at: "2026-01-01T00:00:00Z", row: {}, prediction: null };

it.each([
  [JSON.stringify(row), "line 1: prediction is null, but must be a string, or a number, or a boolean"],
  [
    `\n${JSON.stringify({ ...row, prediction: 1, unit: "" })}`,
    'line 2: unit is "", but must have at least 1 character',
  ],
  ['{"unit": "a"', "line 1 must be JSON"],
  [`\n{"row": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "line 2 must be at most 64 levels deep"],
  [`[${"[".repeat(100_000)}${"]".repeat(100_000)}]`, "one JSON object per line: it must be at most 64 levels deep"],
  ["5", "line 1 is 5, but must be a mapping"],
  [JSON.stringify([row]), "entry 1: prediction is null, but must be a string"],
])("the lines %.40j are refused as the API refuses them", (text, message) => {
  const file = path.join(directory, "rows.jsonl");
  fs.writeFileSync(file, text);
  expect(() => readLines(file, loggedRow)).toThrow(message);
});
