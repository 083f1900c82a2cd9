import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { describeMachine, machineLine } from "../support/machine";
import { type CampaignResult, type Counts, mergeCounts, runCampaign, totalOf } from "./campaign";
import { damageKinds } from "./damage";
import { outcomes } from "./subject";

/**
 * Damages every class of file of a data directory and counts the readers' results. `silent`: a wrong answer, or lost data,
 * without an error. The target is none.
 */
export async function benchCorruption(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cases: { type: "string", default: "10000" },
      seed: { type: "string", default: "1" },
      /** The number of the first case; with `--cases` one more, it repeats one case. */
      from: { type: "string", default: "0" },
      processes: { type: "string", default: String(availableParallelism()) },
      /** For a child process: it runs every n-th case, and prints its result as JSON. */
      stride: { type: "string" },
      /** Damages only the classes whose names contain this text. */
      only: { type: "string", default: "" },
      /** Damages the data directory of a whole stack: some seconds per case. */
      stack: { type: "boolean", default: false },
      unverified: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const [cases, seed, from, processes] = [values.cases, values.seed, values.from, values.processes].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const options = { cases, seed, only: values.only, stack: values.stack, unverified: values.unverified };
  if (values.stride !== undefined) {
    const result = await runCampaign({ ...options, from, stride: Number(values.stride) });
    process.stdout.write(JSON.stringify(result));
    return;
  }
  const machine = describeMachine();
  const startedAt = Date.now();
  const results = await Promise.all(
    Array.from({ length: processes }, (_, i) => {
      const own = [
        "--cases",
        values.cases,
        "--seed",
        values.seed,
        "--from",
        String(from + i),
        "--stride",
        String(processes),
        "--only",
        values.only,
      ];
      return runChild([...own, ...(values.stack ? ["--stack"] : []), ...(values.unverified ? ["--unverified"] : [])]);
    }),
  );
  const counts = mergeCounts(results.map((result) => result.counts));
  const findings = results.flatMap((result) => result.findings);
  const seconds = (Date.now() - startedAt) / 1000;
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, seed, seconds, counts, findings }, null, 2)}\n`);
  else {
    for (const finding of findings.slice(0, 20)) process.stdout.write(`${JSON.stringify(finding)}\n`);
    process.stdout.write(
      `${machineLine(machine)}, seed ${seed}, ${totalOf(counts)} cases in ${Math.round(seconds)} s\n`,
    );
    process.stdout.write(`${tableOf(counts)}\n`);
  }
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
