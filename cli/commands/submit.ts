import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { InvalidInputError } from "../../core/errors";
import type { Job } from "../../core/training/job";
import { parseJobFile } from "../../core/training/job-file";
import type { CodeReference } from "../../core/training/run";
import { describeCode } from "../code";
import { contextOf } from "../context";
import { printJson } from "../output";
import { createUploads } from "../uploads";
import { bundleModule } from "../user-module";
import { exitCodeOf, watchRun } from "../watch";
import { describeRun } from "./runs";

interface SubmitOptions {
  readonly set: readonly string[];
  readonly wait?: boolean;
  readonly cache: boolean;
}

export function addSubmitCommand(program: Command): void {
  program
    .command("submit <job>")
    .description("create a run from a job file and start it")
    .option("--set <path=value>", "change a value of the job file (repeatable)", collect, [])
    .option("--wait", "follow the run until it ends or waits for an approval")
    .option("--no-cache", "compute every step anew, whatever outputs are known")
    .action(async (file: string, options: SubmitOptions, command: Command) => {
      let job = parseJobFile(file, readJob(file), options.set);
      const { client, json } = contextOf(command);
      let code: CodeReference = describeCode(dirname(resolve(file)));
      if (job.model.type === "module") {
        const moduleSha256 = await bundleModule(resolve(dirname(file), job.model.path), createUploads(client));
        job = { ...job, model: { ...job.model, sha256: moduleSha256 } } satisfies Job;
        code = { ...code, moduleSha256 };
      }
      // The key makes a repeated send of this submission, after a lost answer, the same run.
      const run = await client.submitRun({ job, code, noCache: !options.cache }, randomUUID());
      if (!options.wait) {
        if (json) printJson(run);
        else
          process.stdout.write(`${run.runId} is ${run.status}; follow it with: ringmaster runs watch ${run.runId}\n`);
        return;
      }
      if (!json) process.stdout.write(`${run.runId}\n`);
      const details = await watchRun(client, run.runId, { quiet: json });
      if (json) printJson(describeRun(details, await client.metrics(run.runId)));
      process.exitCode = exitCodeOf(details.run);
    });
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

function readJob(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a file that can be read";
    throw new InvalidInputError("the job file cannot be read", [{ path: "job", value: file, rule }], cause);
  }
}
