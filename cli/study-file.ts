import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InvalidInputError } from "../core/errors";
import type { Job } from "../core/runs/job";
import { type StudyDefinition, studyFileSchema } from "../core/tuning/study";
import { parseYamlInput } from "../core/yaml-input";
import { type JobOptions, type PreparedJob, prepareJob, readJobFile } from "./submission";

/** A study file, with the job that it names. */
export type PreparedStudy = Omit<StudyDefinition, "job" | "code" | "environment"> & PreparedJob;

/**
 * Reads a study file and its job; bundles and uploads the user's module, if there is one.
 *
 * @throws InvalidInputError with every problem of the study, each with its line
 */
export async function prepareStudy(
  file: string,
  options: JobOptions,
  client: Parameters<typeof prepareJob>[2],
): Promise<PreparedStudy> {
  const jobFile = (path: string): string => resolve(dirname(file), path);
  const readJob = (path: string): Job => readJobFile(jobFile(path), options.set).job;
  const { value } = parseYamlInput(file, read("study", file), studyFileSchema(readJob));
  const { job, objective, objectives, ...definition } = value;
  const prepared = await prepareJob(jobFile(job), options, client);
  return { ...definition, objectives: objectives ?? (objective ? [objective] : []), ...prepared };
}

function read(what: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a readable file";
    throw new InvalidInputError(`the ${what} file cannot be read`, [{ path: what, value: file, rule }], cause);
  }
}
