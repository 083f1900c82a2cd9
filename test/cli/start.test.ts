import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ensureBuild } from "../../scripts/build.js";

it("starts without the libraries for data and models, which take longer to load than the rest", () => {
  const script = `
    process.on("exit", () => console.log(JSON.stringify(Object.keys(require.cache))));
    process.argv = [process.execPath, "ringmaster", "--help"];
    require(${JSON.stringify(join(ensureBuild(), "cli.js"))});`;
  const lines = execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }).trim().split("\n");
  expect(lines[0]).toMatch(/^Usage: ringmaster/);
  const loaded = JSON.parse(lines.at(-1)!) as readonly string[];
  expect(loaded.filter((file) => /@duckdb|@tensorflow|classic-level|onnxruntime/.test(file))).toEqual([]);
  expect(loaded.some((file) => file.endsWith("cli.js"))).toBe(true);
});
