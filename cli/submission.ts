import { existsSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { listCode, packFolder } from "../adapters/files/folder";
import type { ApiClient } from "../client/api-client";
import type { ColumnSchema } from "../core/datasets/shapes";
import { sha256 } from "../core/digest";
import { InvalidInputError } from "../core/errors";
import { choiceProblems } from "../core/features/choice";
import type { UploadPort } from "../core/ports";
import type { Job } from "../core/runs/job";
import type { CodeReference, SubmittedEnvironment } from "../core/runs/shapes";
import { describeCode, describeEnvironment } from "./code";
import { type Command, invalidOption } from "./command";
import { pushDataSource } from "./datasets/data-source";
import { type DataSource, expandSettings, type JobFile, parseJobFile } from "./job-file";
import { createUploads, uploadBytes } from "./uploads";

/** The file that modules import as `ringmaster`: next to the bundles, or in the sources. */
const definition = [
  join(__dirname, "define-training.js"),
  join(__dirname, "..", "trainer-container", "define-training.ts"),
].find(existsSync)!;

/**
 * Gives `ringmaster` the same name wherever it is installed, because a bundle's digest must not depend on its place.
 */
const ringmaster: Plugin = {
  name: "ringmaster",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^ringmaster$/ }, () => ({ path: "ringmaster", namespace: "ringmaster" }));
    onLoad({ filter: /.*/, namespace: "ringmaster" }, async () => ({
      // The source map is not always installed.
      contents: (await readFile(definition, "utf8")).replace(/^\/\/# sourceMappingURL=.*$/m, ""),
      loader: "ts",
      resolveDir: dirname(definition),
    }));
  },
};

export interface BundledModule {
  readonly sha256: string;
  /** Digest of each source file, by its path relative to the module. */
  readonly files: Readonly<Record<string, string>>;
}

/** Bundles a user's module and stores it. */
export async function bundleModule(path: string, uploads: UploadPort, field = "model.path"): Promise<BundledModule> {
  const { source, files } = await bundleSource(path, field);
  return { sha256: (await uploadBytes(uploads, source)).sha256, files };
}

/** Bundles a user's module. TensorFlow.js stays external, so that there is one instance. */
export async function bundleSource(path: string, field: string) {
  const what = field === "model.path" ? "the job's module cannot be bundled" : "the module cannot be bundled";
  if (!existsSync(path)) {
    const rule = `must be a file that exists, relative to the ${field === "model.path" ? "job" : "pipeline"} file`;
    throw new InvalidInputError(what, [{ path: field, value: path, rule }]);
  }
  const bundle = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    format: "cjs",
    logLevel: "silent",
    external: ["@tensorflow/*"],
    // Gives the trainer the user's line numbers. Paths are relative to the module, so that the bundle is the same from
    // every directory.
    sourcemap: "inline",
    sourcesContent: false,
    metafile: true,
    absWorkingDir: dirname(path),
    outfile: join(dirname(path), "module.js"),
    plugins: [ringmaster],
  }).catch((cause: { errors?: readonly { text: string; location?: { file: string; line: number } | null }[] }) => {
    throw new InvalidInputError(
      what,
      (cause.errors ?? []).map(({ text, location }) => ({
        path: field,
        value: location ? `${relative("", join(dirname(path), location.file))}:${location.line}` : path,
        rule: ruleOf(text),
      })),
      cause,
    );
  });
  const sources = Object.keys(bundle.metafile.inputs).filter((name) => !/:|node_modules/.test(name));
  const files = sources.map((name) => [name, sha256(readFileSync(join(dirname(path), name)))] as const);
  return { source: bundle.outputFiles[0]!.contents, files: Object.fromEntries(files) };
}

function ruleOf(text: string): string {
  if (!text.startsWith("Top-level await")) return `must compile: ${text}`;
  return "must not use await outside of a function: a module is loaded synchronously; read files by readFileSync, and give other values by model.options";
}

const maxCodeBytes = 2 ** 28;

/** Packs a container's folder of code and stores it. */
async function packCode(folder: string, uploads: UploadPort): Promise<Pick<BundledModule, "sha256">> {
  const refuse = (rule: string): never => {
    throw new InvalidInputError("the job's code cannot be packed", [{ path: "model.code", value: folder, rule }]);
  };
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return refuse("must be a folder that exists, relative to the job file");
  const files = listCode(folder);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > maxCodeBytes)
    return refuse(`must have at most ${maxCodeBytes} bytes and has ${bytes}: push data as a dataset`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of packFolder(folder, files)) chunks.push(chunk);
  return uploadBytes(uploads, Buffer.concat(chunks));
}

/** Returns the job with the digest of its module or code. */
const withBundle = (job: Job, sha256: string | undefined): Job =>
  sha256 !== undefined && (job.model.type === "module" || job.model.type === "container")
    ? { ...job, model: { ...job.model, sha256 } }
    : job;

const maxName = 250;

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
    .repeatable(
      "--set <path=value>",
      "override a value of the job file; several values, as in seed=1..5, give several runs",
    )
    .option("--no-diff", "do not record uncommitted code changes");
}

/**
 * Reads a job file, uploads the user's module, and makes a version of its data. Errors are reported without the API.
 */
export async function prepareJob(file: string, options: JobOptions, client: () => ApiClient): Promise<PreparedJob> {
  const read = readJobFile(file, options.set);
  const prepared = await withCode(read.job, file, options, client);
  return { ...prepared, job: await withVersion(prepared.job, read.dataSource, file, client) };
}

/** Returns the job with the version that its data became; unchanged if it names no data. */
async function withVersion(
  job: Job,
  dataSource: DataSource | undefined,
  file: string,
  client: () => ApiClient,
): Promise<Job> {
  if (dataSource === undefined) return job;
  const checkColumns = (schema: readonly ColumnSchema[]): void => {
    const problems = choiceProblems(schema, job);
    if (problems.length > 0) throw new InvalidInputError(`${file} does not fit the data`, problems);
  };
  const folder = dirname(resolve(file));
  return { ...job, dataset: await pushDataSource(client(), job.dataset, dataSource, folder, checkColumns) };
}

async function withCode(job: Job, file: string, { diff }: JobOptions, client: () => ApiClient): Promise<PreparedJob> {
  const directory = dirname(resolve(file));
  const code = await describeCode(directory, diff ? () => createUploads(client()) : undefined);
  const lockfile = describeEnvironment(directory);
  const environment = lockfile ? { environment: lockfile } : {};
  const source =
    job.model.type === "module" ? job.model.path : job.model.type === "container" ? job.model.code : undefined;
  if (source === undefined) return { job, code, ...environment };
  const bundle = job.model.type === "module" ? bundleModule : packCode;
  const { sha256: moduleSha256 } = await bundle(resolve(dirname(file), source), createUploads(client()));
  return {
    job: withBundle(job, moduleSha256),
    code: { ...code, moduleSha256 },
    ...environment,
  };
}

/** The jobs of one submission, each with the settings in which it differs from the others. */
export type PreparedGroup = readonly { readonly settings: readonly string[]; readonly job: PreparedJob }[];

/** Reads a job file for each combination of `--set`, but uploads module and data once. @throws InvalidInputError */
export async function prepareJobs(file: string, options: JobOptions, client: () => ApiClient): Promise<PreparedGroup> {
  const combinations = expandSettings(options.set, () => readJobFile(file).job);
  const files = combinations.map(({ settings }) => readJobFile(file, settings));
  const first = await withCode(files[0]!.job, file, options, client);
  const { moduleSha256 } = first.code;
  const versions = new Map<string, string>();
  const prepared: { settings: readonly string[]; job: PreparedJob }[] = [];
  for (const [index, { job, dataSource }] of files.entries()) {
    const { swept } = combinations[index]!;
    const key = JSON.stringify([job.dataset, dataSource]);
    const { dataset } = versions.has(key)
      ? { dataset: versions.get(key)! }
      : await withVersion(job, dataSource, file, client);
    versions.set(key, dataset);
    const named = swept.length === 0 ? {} : { name: [job.name ?? [], swept].flat().join(" ").slice(0, maxName) };
    prepared.push({ settings: swept, job: { ...first, job: { ...withBundle(job, moduleSha256), ...named, dataset } } });
  }
  return prepared;
}

/** Reads a job file, with the file of a plan that it names. @throws InvalidInputError with every problem */
export function readJobFile(file: string, set: readonly string[] = []): JobFile {
  const readPlan = (plan: string): string => read(resolve(dirname(file), plan), "plan", "features.plan");
  const [combination, ...others] = expandSettings(set, () => readJobFile(file).job);
  if (others.length > 0) {
    const rule = `must have one value, but gives ${others.length + 1} runs; only submit starts several`;
    throw invalidOption("--set", combination!.swept.join(" "), rule);
  }
  return parseJobFile(file, read(file, "job", "job"), combination!.settings, readPlan);
}

function read(file: string, what: string, path: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a readable file";
    throw new InvalidInputError(`the ${what} file cannot be read`, [{ path, value: file, rule }], cause);
  }
}
