import * as fs from "node:fs";
import * as path from "node:path";
import { openInferenceFile } from "../../adapters/duckdb/inference-file";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { versionOf } from "../core/drift/columns-source";
import { memoryRows } from "../core/features/memory-rows";
import { runCli } from "../support/cli";
import { temporaryFolder } from "../support/temporary-folder";

const directory = temporaryFolder("cli-drift");

/** No stack runs over this data: the command line refuses the options itself. */
it.each([
  ["datasets drift a@1 a@2 --psi abc", ['--psi is "abc", but must be a number']],
  ["models drift m --level 2 --psi x", ["--level is 2, but must be at most 0.5", '--psi is "x", but must be a number']],
  ["monitors create a --model m --distance=", ['--distance is "", but must be a number']],
  ["monitors create a --model m --rate x", ['--rate is "x", but must be a number']],
  ["monitors create a --model m --every-rows 1", ["--every-rows is 1, but must be at least 100"]],
  ["monitors create a --model m --min-rows 1 --rate 0", ["--min-rows is 1, but must", "--rate is 0, but must be more"]],
  ["monitors create a --model m --schedule often", ['--schedule is "often", but must']],
  ["monitors create a --dataset d --min-rows 500", ["--min-rows is for --model"]],
  ["monitors report a --window 0", ["--window is 0, but must be at least 1"]],
  ["models drift m --file f.csv --since 7d", ['--since is "7d", but is for the logged rows']],
])("%s names its options", async (line, messages) => {
  const result = await runCli(["--json", "--data", path.join(directory, "none"), ...line.split(" ")]);
  const { code, message } = JSON.parse(result.out).error;
  expect([result.code, code]).toEqual([2, "INVALID_INPUT"]);
  for (const one of messages) expect(message).toContain(one);
});

it("a file of inferences without rows is refused", async () => {
  const file = path.join(directory, "empty.csv");
  fs.writeFileSync(file, "x,prediction\n");
  const { manifest } = versionOf(1, [{ name: "x", type: "float", role: "feature" }], 0, memoryRows([]));
  const column = { name: "prediction", type: "string", role: "feature" } as const;
  const sample = { kind: "category", rows: 0, missing: 0, counts: new Map() } as const;
  const baseline = { manifest, features: new Set(["x"]), label: "y", predictions: { column, sample } };
  await expect(withDuckDb((session) => openInferenceFile(session, [file], baseline))).rejects.toThrow("has no rows");
});
