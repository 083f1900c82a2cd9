import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { functionEnvironment } from "../../local/settings";
import { publicTargets } from "../../platform/config";
import { parseOptions } from "../support/arguments";
import { builtBundles } from "../support/bundles";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";

const trials = 7;

/** Loads a bundle in a process of its own and prints the processor time and the wall time that it took, in milliseconds. */
const program = `
const [bundle] = process.argv.slice(1);
globalThis.awslambda = { streamifyResponse: (handler) => handler };
const before = process.cpuUsage();
const start = process.hrtime.bigint();
require(bundle);
const wall = Number(process.hrtime.bigint() - start) / 1e6;
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpu: (user + system) / 1e3, wall }));
`;

interface Row {
  readonly name: string;
  readonly kilobytes: number;
  readonly files: number;
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Measures what a cold start loads: the size of each function's bundle, its own source files, and the time to load it. */
export async function benchColdStart(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { bundles: "" });
  const report = startReport(values.json);
  const folder = join(resolve(values.bundles || builtBundles()), "lambdas");
  const cwd = mkdtempSync(join(tmpdir(), "cold-start-"));
  const env = { ...process.env, AWS_REGION: "us-east-1", ...functionEnvironment("http://127.0.0.1:1", publicTargets) };
  const load = (bundle: string) => {
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", program, bundle], { cwd, env, encoding: "utf8" });
    if (stdout === "") throw new Error(`${bundle} could not be loaded: ${stderr}`);
    return JSON.parse(stdout) as { readonly cpu: number; readonly wall: number };
  };
  const rows = readdirSync(folder)
    .filter((file) => file.endsWith(".js"))
    .map((file): Row => {
      const bundle = join(folder, file);
      const loads = Array.from({ length: trials }, () => load(bundle));
      return {
        name: file.slice(0, -".js".length),
        kilobytes: statSync(bundle).size / 1_000,
        files: ownFiles(`${bundle}.map`),
        cpuMs: median(loads.map(({ cpu }) => cpu)),
        wallMs: median(loads.map(({ wall }) => wall)),
      };
    });
  rmSync(cwd, { recursive: true });
  report(
    { trials, rows },
    `median of ${trials}`,
    "",
    markdownTable(
      ["function", "bundle, KB", "own files", "load, processor ms", "load, wall ms"],
      rows.map(({ name, kilobytes, files, cpuMs, wallMs }) => [
        ...[name, Math.round(kilobytes).toString(), String(files)],
        ...[Math.round(cpuMs).toString(), Math.round(wallMs).toString()],
      ]),
    ),
  );
}

/** Counts the source files of the repository in a bundle. The source map names files that give it code; packages do not count. */
function ownFiles(map: string): number {
  const { sources } = JSON.parse(readFileSync(map, "utf8")) as { readonly sources: readonly string[] };
  return sources.filter((source) => !source.includes("node_modules/")).length;
}
