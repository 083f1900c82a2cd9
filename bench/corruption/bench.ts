import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseOptions } from "../support/arguments";
import { startReport } from "../support/report";
import { type CampaignResult, type Counts, mergeCounts, runCampaign, totalOf } from "./campaign";
import { damageKinds } from "./damage";
import { outcomes } from "./subject";

/**
 * Damages every class of file of a data directory and counts the readers' results. `silent`: a wrong answer, or lost data,
 * without an error. The target is none.
 */
export async function benchCorruption(args: readonly string[]): Promise<void> {
  const { cases, seed, from, processes, stride, json, ...damage } = parseOptions(args, {
    cases: 10_000,
    seed: 1,
    /** The number of the first case; with `--cases` one more, it repeats one case. */
    from: 0,
    processes: availableParallelism(),
    /** For a child process: it runs every n-th case, and prints its result as JSON. */
    stride: "",
    /** Damages only the classes whose names contain this text. */
    only: "",
    /** Damages the data directory of a whole stack: some seconds per case. */
    stack: false,
    unverified: false,
  });
  if (stride !== "") {
    const result = await runCampaign({ cases, seed, from, ...damage, stride: Number(stride) });
    process.stdout.write(JSON.stringify(result));
    return;
  }
  const report = startReport(json);
  const startedAt = Date.now();
  const results = await Promise.all(
    Array.from({ length: processes }, (_, i) => {
      const own = { cases, seed, from: from + i, stride: processes, only: damage.only };
      const flags = (["stack", "unverified"] as const).filter((flag) => damage[flag]).map((flag) => `--${flag}`);
      return runChild([...Object.entries(own).flatMap(([name, value]) => [`--${name}`, String(value)]), ...flags]);
    }),
  );
  const counts = mergeCounts(results.map((result) => result.counts));
  const findings = results.flatMap((result) => result.findings);
  const seconds = (Date.now() - startedAt) / 1000;
  const heading = `seed ${seed}, ${totalOf(counts)} cases in ${Math.round(seconds)} s`;
  const shown = findings.slice(0, 20).map((finding) => JSON.stringify(finding));
  report({ seed, seconds, counts, findings }, heading, ...shown, tableOf(counts));
  if (totalOf(counts, "silent") > 0) process.exitCode = 1;
}

/** Renders one row per class of file and damage. */
export function tableOf(counts: Counts): string {
  const lines = [`| class | damage | ${outcomes.join(" | ")} |`, `|---|---|${outcomes.map(() => "---:|").join("")}`];
  for (const [subject, kinds] of Object.entries(counts)) {
    for (const kind of damageKinds) {
      const row = kinds[kind];
      if (row) lines.push(`| ${subject} | ${kind} | ${outcomes.map((outcome) => row[outcome] ?? 0).join(" | ")} |`);
    }
  }
  lines.push(`| all | all | ${outcomes.map((outcome) => totalOf(counts, outcome)).join(" | ")} |`);
  return lines.join("\n");
}

function runChild(args: readonly string[]): Promise<CampaignResult> {
  return new Promise((resolve, reject) => {
    const script = process.argv[1]!;
    const child = spawn(process.execPath, [script, "corruption", ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, NODE_NO_WARNINGS: "1" },
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("exit", (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(chunks).toString()) as CampaignResult);
      else reject(new Error(`a process of the campaign ended with exit code ${code}`));
    });
  });
}
