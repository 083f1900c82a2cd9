import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { ApiClient } from "../client/api-client";
import { InvalidInputError } from "../core/errors";
import type { Job } from "../core/runs/job";
import type { CodeReference, SubmittedEnvironment } from "../core/runs/shapes";
import { parseJobFile } from "../core/training/job-file";
import { expandSettings } from "../core/training/job-grid";
import { describeCode, describeEnvironment } from "./code";
import { createUploads } from "./uploads";
import { bundleModule } from "./user-module";

/** Options of every command with a job file. */
export interface JobOptions {
  readonly set: readonly string[];
  readonly diff: boolean;
}

/** A job, and facts about the place of its submission for the record. */
export interface PreparedJob {
  readonly job: Job;
  readonly code: CodeReference;
  readonly environment?: SubmittedEnvironment;
}

export function withJobOptions(command: Command): Command {
  return command
    .option(
      "--set <path=value>",
      "override a value of the job file (repeatable); several values, as in seed=1..5, give several runs",
      collect,
      [],
    )
    .option("--no-diff", "do not record uncommitted code changes");
}

/**
 * Reads a job file; bundles and uploads the user's module, if there is one. Errors in the file are reported without the
 * API.
 */
export async function prepareJob(
  file: string,
  { set, diff }: JobOptions,
  client: () => ApiClient,
): Promise<PreparedJob> {
  const job = readJobFile(file, set);
  const directory = dirname(resolve(file));
  const code = await describeCode(directory, diff ? () => createUploads(client()) : undefined);
  const lockfile = describeEnvironment(directory);
  const environment = lockfile ? { environment: lockfile } : {};
  if (job.model.type !== "module") return { job, code, ...environment };
  const moduleSha256 = await bundleModule(resolve(dirname(file), job.model.path), createUploads(client()));
  return {
    job: { ...job, model: { ...job.model, sha256: moduleSha256 } },
    code: { ...code, moduleSha256 },
    ...environment,
  };
}

export type PreparedGroup = readonly { readonly settings: readonly string[]; readonly job: PreparedJob }[];

/**
 * Reads a job file once for each combination of the values of `--set`. The user's module is bundled once.
 *
 * @throws InvalidInputError with every problem of the first combination that has one
 */
export async function prepareJobs(file: string, options: JobOptions, client: () => ApiClient): Promise<PreparedGroup> {
  const several =
    options.set.some((setting) => /,|\.\./.test(setting)) || options.set.some((one) => !one.includes("."));
  const combinations = several ? expandSettings(options.set, readJobFile(file)) : [options.set];
  const jobs = combinations.map((set) => readJobFile(file, set));
  const first = await prepareJob(file, { ...options, set: combinations[0] ?? [] }, client);
  const { sha256 } = first.job.model.type === "module" ? first.job.model : {};
  return jobs.map((job, i) => ({
    settings: combinations[i] ?? [],
    job: { ...first, job: job.model.type === "module" ? { ...job, model: { ...job.model, sha256 } } : job },
  }));
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

/** Reads a job file, with the view that it names. @throws InvalidInputError with every problem */
export function readJobFile(file: string, set: readonly string[] = []): Job {
  const readView = (view: string): string => read(resolve(dirname(file), view), "view", "features.view");
  return parseJobFile(file, read(file, "job", "job"), set, readView);
}

function read(file: string, what: string, path: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a readable file";
    throw new InvalidInputError(`the ${what} file cannot be read`, [{ path, value: file, rule }], cause);
  }
}
