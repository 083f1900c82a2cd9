import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer } from "../../client/operations";
import { InvalidInputError } from "../../core/errors";
import { evaluationTables } from "../../core/evaluation/evaluation-tables";
import { verdictWord } from "../../core/registry/gates/verdict";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { downloadFile } from "../download";
import { printEvaluationTable } from "../metric-table";
import { exitCodes, formatNumber, printJson, printTable } from "../output";
import { runCheck } from "../run-check";
import { nextLines } from "../waiting";
import { writeReport } from "../write-file";
import { checkLine, versionArgument } from "./model-decisions";

type VersionReport = Answer<"getModelVersionReport">;
type ModelVersion = Answer<"getModelVersion">["version"];

export function addModelGateCommands(models: Command): void {
  models
    .command("gates <model>")
    .addArgument(versionArgument)
    .description("show each gate of a version, with value, limit and evidence")
    .handle(async ({ client, json }, name: string, version: number) => {
      const report = await client.call("getModelVersionReport", { params: { name, version } });
      if (json) printJson(report);
      else printGates(report);
    });

  models
    .command("report <model>")
    .addArgument(versionArgument)
    .description("write the evaluation report of a version: Markdown, or an HTML page with plots")
    .option("--html <file>", "write a self-contained HTML page")
    .option("--markdown <file>", "write Markdown")
    .handle(async ({ client, json }, name: string, version: number, files: { html?: string; markdown?: string }) => {
      const params = { name, version };
      const textIn = (format: "html" | "markdown") =>
        client.text("getModelVersionReport", { params, query: { format } });
      if (files.html !== undefined) writeReport("--html", files.html, await textIn("html"));
      if (files.markdown !== undefined) writeReport("--markdown", files.markdown, await textIn("markdown"));
      if (json) printJson(await client.call("getModelVersionReport", { params }));
      else if (files.html === undefined && files.markdown === undefined) process.stdout.write(await textIn("markdown"));
    });

  models
    .command("check <model>")
    .addArgument(versionArgument)
    .argument("[command...]", "command to run, after --; exit code 0 passes")
    .description("run a check of the model's policy on this machine and report its result; exit code 3 if it fails")
    .requiredOption("--name <check>", "name of the check in the policy")
    .option("--timeout <seconds>", "time limit (default: the one in the policy)", wholeNumber("--timeout"))
    .option("--download", "download weights and topology into the candidate's directory")
    .action(
      async (
        name: string,
        version: number,
        words: readonly string[],
        options: { name: string; timeout?: number; download?: boolean },
        command: Command,
      ) => {
        const { client, json } = contextOf(command);
        const params = { name, version };
        const [report, { policy }] = await Promise.all([
          client.call("getModelVersionReport", { params }),
          client.call("getModelPolicy", { params: { name } }),
        ]);
        const declared = policy?.rules.checks.find((check) => check.name === options.name);
        if (words.length === 0) throw noCommand(declared?.kind === "command" ? declared.command : undefined);
        const directory = mkdtempSync(join(tmpdir(), "ringmaster-check-"));
        try {
          const candidate = join(directory, "candidate.json");
          writeFileSync(candidate, JSON.stringify(report));
          for (const file of options.download ? (report.files ?? []) : []) {
            const url = await client.contentUrl(file.sha256);
            await downloadFile(url, file.sha256, join(directory, file.name), "--download");
          }
          const timeoutSeconds = options.timeout ?? declared?.timeoutSeconds ?? 3_600;
          const run = await runCheck(words, {
            environment: environmentOf(report, options.name, candidate, directory),
            timeoutSeconds,
            // With --json, standard output is one document.
            show: (chunk) => void (json ? process.stderr : process.stdout).write(chunk),
          });
          const passed = run.exitCode === 0 && !run.timedOut;
          const evidence = run.timedOut
            ? `timed out after ${timeoutSeconds} s`
            : run.output.trimEnd().split("\n").at(-1)!.slice(0, 500) || "no output";
          const { version: answered } = await client.call("answerModelCheck", {
            params: { name, version, check: options.name },
            body: {
              passed,
              evidence,
              exitCode: run.exitCode,
              command: words.join(" ").slice(0, 4_000),
              output: run.output,
            },
          });
          if (json) printJson(answered);
          else printAnswer(answered, options.name, passed);
          if (!passed) process.exitCode = exitCodes.refused;
        } finally {
          rmSync(directory, { recursive: true, force: true });
        }
      },
    );

  models
    .command("check-key <model>")
    .description("print the key that signs requests to a check's webhook (whsec_…, Standard Webhooks)")
    .requiredOption("--name <check>", "name of the check in the policy")
    .handle(async ({ client, print }, name: string, options: { name: string }) => {
      const answer = await client.call("getModelCheckKey", { params: { name, check: options.name } });
      print(answer, answer.key);
    });
}

function environmentOf(
  report: VersionReport,
  check: string,
  candidate: string,
  directory: string,
): Readonly<Record<string, string>> {
  return {
    RINGMASTER_CHECK: check,
    RINGMASTER_MODEL: report.model,
    RINGMASTER_VERSION: String(report.version),
    RINGMASTER_RUN_ID: report.runId ?? "",
    RINGMASTER_CANDIDATE: candidate,
    RINGMASTER_CANDIDATE_DIRECTORY: directory,
  };
}

/** A policy's command is shown, not run: its author must not run programs on other people's machines. */
function noCommand(declared: readonly string[] | undefined): InvalidInputError {
  const rule = declared
    ? `must be given after --; the command in the policy is: ${declared.join(" ")}`
    : "must be given after --, such as -- ./check.sh";
  return new InvalidInputError("there is nothing to run", [{ path: "COMMAND", rule }]);
}

function printAnswer({ model, version, gate, next }: ModelVersion, check: string, passed: boolean): void {
  const waiting = (gate?.checks ?? []).filter(({ pending }) => pending).map(({ metric }) => metric);
  const rest = gate?.passed ? "passed" : waiting.length > 0 ? `waiting for ${waiting.join(", ")}` : "refused";
  process.stdout.write(`${model} version ${version}: check ${check} ${passed ? "passed" : "failed"}; gates ${rest}\n`);
  for (const line of nextLines(next)) process.stdout.write(`${line}\n`);
}

function printGates(report: VersionReport): void {
  process.stdout.write(`${report.model} version ${report.version}: ${verdictWord(report)}\n`);
  for (const check of report.gate?.checks ?? []) {
    process.stdout.write(`${checkLine(check)}\n`);
    if (!check.slices) continue;
    printTable(
      [`  ${check.slices.column}`, "ROWS", check.metric, "INTERVAL"],
      check.slices.slices.map(({ value, rows, estimate, lower, upper }) => [
        `  ${value}`,
        rows,
        formatNumber(estimate),
        `${formatNumber(lower)} – ${formatNumber(upper)}`,
      ]),
    );
  }
  for (const table of evaluationTables(report)) printEvaluationTable(table);
}
