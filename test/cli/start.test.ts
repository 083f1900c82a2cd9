import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuild } from "../../scripts/build.js";

const bundle = join(ensureBuild(), "cli.js");

it("starts without the libraries for data and models, which take longer to load than the rest", () => {
  const script = `
    process.on("exit", () => console.log(JSON.stringify(Object.keys(require.cache))));
    process.argv = [process.execPath, "ringmaster", "--help"];
    require(${JSON.stringify(bundle)});`;
  const lines = execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }).trim().split("\n");
  expect(lines[0]).toMatch(/^Usage: ringmaster/);
  const loaded = JSON.parse(lines.at(-1)!) as readonly string[];
  expect(loaded.filter((file) => /@duckdb|@tensorflow|classic-level|onnxruntime/.test(file))).toEqual([]);
  expect(loaded.some((file) => file.endsWith("cli.js"))).toBe(true);
});

it("has zod's messages in English only", () => {
  const locales = readFileSync(bundle, "utf8").match(/(?<=^\/\/ node_modules\/zod\/v4\/locales\/)\w+/gm);
  expect([...new Set(locales)].sort()).toEqual(["en", "index"]);
});
