import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ApiClient } from "../../client/api-client";
import { InvalidInputError, type Problem } from "../../core/errors";
import type { Job } from "../../core/runs/job";
import type { StudyState } from "../../core/tuning/ports";
import { isActive, type Study, type Trial } from "../../core/tuning/shapes";
import { type StudyDefinition, studyFileSchema } from "../../core/tuning/study";
import { parseYamlInput } from "../../core/yaml-input";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { exitCodes, printJson, printTable } from "../output";
import { type JobOptions, type PreparedJob, prepareJob, readJobFile, withJobOptions } from "../submission";

/** A study file, with the job that it names. */
type PreparedStudy = Omit<StudyDefinition, "job" | "code" | "environment"> & PreparedJob;

/** Reads a study file and its job; uploads the user's module. @throws InvalidInputError with every problem of both */
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

export function addStudyCommands(program: Command): Command {
  const study = program.command("study").alias("studies").description("search for the best settings of a job");

  withJobOptions(
    study.command("create <file>").description("create a study from a study file and start it; idempotent"),
  )
    .option("--wait", "follow the study until it ends")
    .action(async (file: string, options: JobOptions & { wait?: boolean }, command: Command) => {
      const definition = await prepareStudy(file, options, () => contextOf(command).client);
      const { client, json } = contextOf(command);
      const { study, created } = await client.call("createStudy", { body: definition });
      if (options.wait) return finish(await watch(client, study.name, json), json);
      if (json) printJson({ created, study });
      else {
        const { warmTrials } = study;
        if (warmTrials > 0) process.stdout.write(`its sampler knows ${warmTrials} earlier trials\n`);
        const status = created ? "is running" : `already exists and is ${study.status}`;
        const next = isActive(study)
          ? `follow it with: ringmaster study watch ${study.name}`
          : `continue it with other limits: ringmaster study extend ${study.name} --trials N`;
        process.stdout.write(`study ${study.name} ${status}; ${next}\n`);
      }
    });

  study
    .command("list")
    .description("list the studies, newest first")
    .handle(async ({ client, json }) => {
      const { items } = await client.call("listStudies", { query: { limit: 200 } });
      if (json) return printJson({ studies: items });
      printTable(
        ["STUDY", "STATUS", "EXPERIMENT", "CREATED (UTC)", "BEST", "REASON"],
        items.map(({ name, status, definition, createdAt, best, reason }) => [
          ...[name, status, definition.job.experiment, createdAt.slice(0, 19).replace("T", " ")],
          best.length === 0 ? "–" : `trial ${best.join(", ")}`,
          reason ?? "",
        ]),
      );
    });

  study
    .command("show <study>")
    .description("show a study and its trials")
    .handle(async ({ client, json }, name: string) => {
      const state = await client.call("getStudy", { params: { study: name } });
      if (json) printJson(state);
      else printStudy(state);
    });

  study
    .command("watch <study>")
    .description("follow a study until it ends; exit code 1 if no trial has a value")
    .handle(async ({ client, json }, name: string) => {
      finish(await watch(client, name, json), json);
    });

  study
    .command("best <study>")
    .description("show the best trial and its settings; with several objectives, the Pareto front")
    .handle(async ({ client, json }, name: string) => {
      const { best } = await client.call("getBestTrials", { params: { study: name } });
      if (json) return printJson({ best });
      for (const trial of best) {
        process.stdout.write(`trial ${trial.number}, ${trial.runId}: ${valuesText(trial)}\n`);
        for (const [path, value] of Object.entries(trial.params))
          process.stdout.write(`  --set ${shellWord(`${path}=${JSON.stringify(value)}`)}\n`);
      }
    });

  study
    .command("stop <study>")
    .description("stop a study; trials that train end with their segment")
    .option("--cancel", "cancel the trials that train")
    .handle(async ({ client, json }, name: string, { cancel = false }: { cancel?: boolean }) => {
      const { study } = await client.call("stopStudy", { params: { study: name }, body: { cancel } });
      report(study, json);
    });

  study
    .command("extend <study>")
    .description("continue a study, also one that has ended, with other limits")
    .option("--trials <n>", "number of trials in total", wholeNumber("--trials"))
    .option("--hours <hours>", "hours from now on", Number)
    .option("--dollars <dollars>", "estimated cost in total", Number)
    .option("--no-improvement <n>", "ended trials in a row without a better value", wholeNumber("--no-improvement"))
    .repeatable("--resume <trial=epochs>", "resume a paused or stopped trial up to that epoch")
    .handle(async ({ client, json }, name: string, options: ExtendOptions) => {
      const { trials, hours, dollars, improvement } = options;
      const noImprovement = typeof improvement === "number" ? improvement : undefined;
      const resume = options.resume.map(parseResume);
      const limits = { trials, hours, dollars, noImprovement };
      const changes = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
      const body = { ...changes, ...(resume.length > 0 ? { resume } : {}) };
      const { study } = await client.call("extendStudy", { params: { study: name }, body });
      report(study, json);
    });
  return study;
}

interface ExtendOptions {
  readonly trials?: number;
  readonly hours?: number;
  readonly dollars?: number;
  /** `true` if the option is not given: commander reads `--no-…` as a switch. */
  readonly improvement: number | boolean;
  readonly resume: readonly string[];
}

/** Quotes a word that a shell would not keep as it is, such as `model.hidden=[8]` in zsh. */
function shellWord(word: string): string {
  return /^[\w.,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function parseResume(text: string): { readonly trial: number; readonly until: number } {
  const [, trial, until] = /^(\d+)=(\d+)$/.exec(text) ?? [];
  if (trial === undefined || until === undefined) {
    const problem = { path: "--resume", value: text, rule: "must be TRIAL=EPOCHS, e.g. 3=9" };
    throw new InvalidInputError("the option is not valid", [problem]);
  }
  return { trial: Number(trial), until: Number(until) };
}

function report(study: Study, json: boolean): void {
  if (json) printJson({ study });
  else process.stdout.write(`study ${study.name} is ${study.status}\n`);
}

const pollMs = 1_000;

async function watch(client: ApiClient, name: string, quiet: boolean): Promise<StudyState> {
  const printed = new Map<number, string>();
  for (;;) {
    const state = await client.call("getStudy", { params: { study: name } });
    for (const trial of state.trials) {
      const line = trialLine(trial, state.study);
      if (printed.get(trial.number) === line) continue;
      printed.set(trial.number, line);
      if (!quiet) process.stdout.write(`  ${line}\n`);
    }
    if (!isActive(state.study)) return state;
    await new Promise((wait) => setTimeout(wait, pollMs));
  }
}

function finish(state: StudyState, json: boolean): void {
  if (json) printJson(state);
  else printStudy(state);
  if (state.study.best.length === 0) process.exitCode = exitCodes.failed;
}

function trialLine({ number, state, until, reports, reason, ...trial }: Trial, { definition }: Study): string {
  const value = trial.values ?? reports.slice(-1).map((one) => one.value);
  const shown = value.length === 0 ? "" : `, ${value.map((one) => one.toPrecision(5)).join(", ")}`;
  const epochs = `epoch ${reports.at(-1)?.epoch ?? 0} of ${definition.job.hyperparameters.epochs}`;
  const where = state === "running" ? `trains to epoch ${until}` : epochs;
  return `trial ${number} ${state}: ${where}${shown}${reason === undefined ? "" : `: ${reason}`}`;
}

function valuesText({ values, reports }: Trial): string {
  return (values ?? reports.slice(-1).map(({ value }) => value)).map((value) => value.toPrecision(6)).join(", ");
}

function printStudy({ study, trials }: StudyState): void {
  const { definition } = study;
  const { objectives, sampler, scheduler, parallel } = definition;
  const line = (name: string, value: unknown) => process.stdout.write(`${name.padEnd(13)} ${value}\n`);
  line("study", study.name);
  line("status", `${study.status}${study.reason === undefined ? "" : ` (${study.reason})`}`);
  line("objective", objectives.map(({ metric, direction }) => `${direction} ${metric}`).join(", "));
  line("search", `${sampler.type}, ${scheduler.type}, ${parallel} in parallel`);
  line("epochs", epochsText(study, trials));
  if (study.best.length > 0) line("best", study.best.map((number) => `trial ${number}`).join(", "));
  if (study.bestRunId !== undefined) line("registered by", study.bestRunId);
  if (study.bestFailure !== undefined) line("not registered", study.bestFailure);
  const paths = Object.keys(definition.space);
  process.stdout.write("\n");
  printTable(
    ["TRIAL", "STATE", "EPOCH", "VALUE", ...paths.map((path) => path.split(".").at(-1) as string), "RUN", "REASON"],
    trials.map((trial) => [
      ...[trial.number, trial.state, trial.reports.at(-1)?.epoch ?? 0, valuesText(trial) || "–"],
      ...paths.map((path) => settingText(trial.params[path])),
      trial.runId ?? "–",
      trial.reason ?? "",
    ]),
  );
}

function settingText(value: Trial["params"][string] | undefined): string {
  if (value === undefined) return "–";
  return typeof value === "number" ? String(Number(value.toPrecision(5))) : JSON.stringify(value);
}

function epochsText({ definition }: Study, trials: readonly Trial[]): string {
  const trained = trials.reduce((sum, { reports }) => sum + (reports.at(-1)?.epoch ?? 0), 0);
  const full = trials.length * definition.job.hyperparameters.epochs;
  return full === 0 ? "0" : `${trained} of ${full} (${Math.round((100 * trained) / full)} %)`;
}
