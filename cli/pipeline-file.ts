import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import * as z from "zod";
import type { ApiClient } from "../client/api-client";
import { InvalidInputError, type Problem } from "../core/errors";
import { planOf } from "../core/pipelines/plan";
import { parseYamlInput } from "../core/yaml-input";
import { bundleModule, bundleSource, type JobOptions, prepareJob } from "./submission";
import { createUploads } from "./uploads";

type Step = Record<string, unknown>;
type Definition = Record<string, unknown> & { steps?: Record<string, Step>; finally?: Record<string, Step> };

const definitionFile = z.record(z.string(), z.unknown());
const placeholderDigest = "0".repeat(64);

/**
 * Reads a pipeline file. Every problem is reported with its line before anything is uploaded. Modules of functions are
 * bundled; a step `train: job.yaml` becomes the job of that file, with its code and data.
 */
export async function preparePipeline(file: string, options: JobOptions, client: () => ApiClient): Promise<Definition> {
  let text: string;
  try {
    text = /\.[cm]?[jt]s$/.test(file) ? await definitionOf(file) : readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof InvalidInputError) throw cause;
    throw new InvalidInputError(
      "the pipeline file cannot be read",
      [{ path: "pipeline", value: file, rule: "must be a readable file" }],
      cause,
    );
  }
  const { value, lineOf } = parseYamlInput(file, text, definitionFile);
  const definition = value as Definition;
  const steps = [definition.steps, definition.finally]
    .flatMap((section) => Object.values(section ?? {}))
    .filter((step) => typeof step === "object" && step !== null);
  const files = new Map(
    steps.map((step) => [
      step,
      { module: moduleOf(step), job: typeof step["train"] === "string" ? step["train"] : undefined },
    ]),
  );
  for (const [step, { module, job }] of files) {
    if (module !== undefined) step["function"] = { module, sha256: placeholderDigest };
    if (job !== undefined) step["train"] = { dataset: `\${"checked with its file"}` };
  }
  try {
    planOf(definition);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const problems = error.details.problems.map(
      (problem): Problem => ({ ...problem, line: lineOf(pathOf(problem.path)) }),
    );
    throw new InvalidInputError(
      `${file} has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}`,
      problems,
    );
  }
  for (const [step, { module, job }] of files) {
    if (module !== undefined) {
      const bundle = await bundleModule(resolve(dirname(file), module), createUploads(client()), "function");
      step["function"] = { module, ...bundle };
    }
    if (job !== undefined) {
      const prepared = await prepareJob(resolve(dirname(file), job), options, client);
      Object.assign(step, { train: prepared.job, code: prepared.code });
    }
  }
  return definition;
}

function moduleOf(step: Step): string | undefined {
  const called = step["function"];
  if (typeof called === "string") return called.startsWith("arn:") ? undefined : called;
  const module = (called as { module?: unknown } | undefined)?.module;
  return typeof module === "string" ? module : undefined;
}

/** Runs a TypeScript file, whose default export is the definition. @returns JSON */
async function definitionOf(file: string): Promise<string> {
  const { source } = await bundleSource(resolve(file), "pipeline");
  const module: { exports: { default?: unknown } } = { exports: {} };
  new Function("module", "exports", "require", new TextDecoder().decode(source))(
    module,
    module.exports,
    createRequire(resolve(file)),
  );
  if (typeof module.exports.default === "object") return JSON.stringify(module.exports.default, undefined, 2);
  const rule = "must export the pipeline as default: `export default definePipeline(…)`";
  throw new InvalidInputError(`${file} is no pipeline`, [{ path: "pipeline", value: file, rule }]);
}

/** Splits `steps.a.after[0]`. */
const pathOf = (path: string): readonly (string | number)[] =>
  path
    .split(/[.[\]]+/)
    .filter((part) => part !== "")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
