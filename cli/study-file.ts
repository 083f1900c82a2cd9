import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InvalidInputError, type Problem } from "../core/errors";
import type { Job } from "../core/runs/job";
import { type StudyDefinition, studyFileSchema } from "../core/tuning/study";
import { parseYamlInput } from "../core/yaml-input";
import { type JobOptions, type PreparedJob, prepareJob, readJobFile } from "./submission";

/** A study file, with the job that it names. */
export type PreparedStudy = Omit<StudyDefinition, "job" | "code" | "environment"> & PreparedJob;

/**
 * Reads a study file and its job; bundles and uploads the user's module, if there is one.
 *
 * @throws InvalidInputError with every problem of the study and of its job, each with its line
 */
export async function prepareStudy(
  file: string,
  options: JobOptions,
  client: Parameters<typeof prepareJob>[2],
): Promise<PreparedStudy> {
  const jobFile = (path: string): string => resolve(dirname(file), path);
  const errors: InvalidInputError[] = [];
  const attempt = <Result>(parse: () => Result): Result | undefined => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
      errors.unshift(error);
      return undefined;
    }
  };
  const readJob = (path: string): Job | undefined => attempt(() => readJobFile(jobFile(path), options.set).job);
  const parsed = attempt(() => parseYamlInput(file, read("study", file), studyFileSchema(readJob)));
  if (parsed === undefined || errors.length > 0) throw joined(file, errors);
  const { job, objective, objectives, ...definition } = parsed.value;
  const prepared = await prepareJob(jobFile(job), options, client);
  return { ...definition, objectives: objective ? [objective] : objectives, ...prepared };
}

/** Joins the errors of a study file and of its job file, in this order. */
function joined(file: string, [error, ofJob]: readonly InvalidInputError[]): InvalidInputError | undefined {
  if (error === undefined || ofJob === undefined) return error;
  const jobProblems = ofJob.details.problems.map(({ line, path, value, rule }): Problem => {
    if (line === undefined) return { path, value, rule };
    return { path: path === "" ? "job" : `job.${path}`, value, rule: `${rule} (line ${line} of the job file)` };
  });
  const problems = [...error.details.problems, ...jobProblems];
  return new InvalidInputError(`${file} and its job have ${problems.length} problems`, problems);
}

function read(what: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a readable file";
    throw new InvalidInputError(`the ${what} file cannot be read`, [{ path: what, value: file, rule }], cause);
  }
}
