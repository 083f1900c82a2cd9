import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { builtBundles } from "../support/bundles";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { markdownTable } from "../support/table";

const expression = (text: string) => `\${${text}}`;

/** A chain of functions that add one, so that the time is the platform's. */
function chain(name: string, length: number) {
  const step = (i: number) => ({
    function: "src/add.js",
    input: { value: i === 0 ? 0 : expression(`steps.s${i - 1}.output`) },
  });
  return { name, steps: Object.fromEntries(Array.from({ length }, (_, i) => [`s${i}`, step(i)])) };
}

interface Run {
  readonly run: {
    readonly pipelineRunId: string;
    readonly status: string;
    readonly createdAt: string;
    readonly endedAt?: string;
  };
}

/** Measures what a step and a cached step cost in the embedded stack: `npm run bench -- pipelines`. */
export async function benchPipelines(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { trials: { type: "string", default: "10" } } });
  const trials = Number(values.trials);
  const directory = mkdtempSync(path.join(tmpdir(), "ringmaster-bench-"));
  const cli = path.join(builtBundles(), "cli.js");
  const command = (...words: readonly string[]): unknown => {
    const given = [cli, "--data", path.join(directory, "data"), "--json", ...words];
    const { status, stdout, stderr } = spawnSync(process.execPath, given, { encoding: "utf8" });
    if (status !== 0) throw new Error(`ringmaster ${words.join(" ")} ended with ${status}: ${stderr}${stdout}`);
    return JSON.parse(stdout);
  };
  /** Seconds of a run from its row to its end. */
  const timed = (name: string, ...options: readonly string[]): number => {
    const { run } = command("pipelines", "run", name, "--wait", ...options) as Run;
    if (run.status !== "succeeded") throw new Error(`run ${run.pipelineRunId} of ${name} is ${run.status}`);
    return (Date.parse(run.endedAt!) - Date.parse(run.createdAt)) / 1_000;
  };
  const repeated = (name: string, ...options: readonly string[]) =>
    Array.from({ length: trials }, () => timed(name, ...options));
  try {
    command("up", "--detach", "--port", "0", "--api-port", "0");
    mkdirSync(path.join(directory, "src"));
    writeFileSync(path.join(directory, "src", "add.js"), "module.exports = ({ value }) => value + 1;\n");
    for (const [name, length] of [
      ["one", 1],
      ["ten", 10],
    ] as const) {
      const file = path.join(directory, `${name}.json`);
      writeFileSync(file, JSON.stringify(chain(name, length)));
      command("pipelines", "push", file);
      timed(name);
    }
    const rows = [
      ["one function, computed", repeated("one", "--no-cache")],
      ["ten functions in a chain, computed", repeated("ten", "--no-cache")],
      ["ten functions in a chain, cached", repeated("ten")],
    ] as const;
    const shown = rows.map(([what, seconds]) => [
      what,
      ...[Math.min(...seconds), median(seconds), Math.max(...seconds)].map((each) => each.toFixed(2)),
    ]);
    process.stdout.write(`${machineLine(describeMachine())}; ${trials} runs each\n\n`);
    process.stdout.write(
      `${markdownTable(["run of a pipeline, embedded", "minimum, s", "median, s", "maximum, s"], shown)}\n`,
    );
  } finally {
    command("down");
    rmSync(directory, { recursive: true, force: true });
  }
}
