import { InvalidInputError } from "../../core/errors";
import type { Parameter } from "../../core/tuning/space";
import type { ImportedTrials } from "../../core/tuning/warm-start";
import type { Command } from "../command";
import { type OptunaStudy, readOptunaStudy } from "../optuna";
import { printJson } from "../output";
import { createUploads, uploadBytes } from "../uploads";

interface Options {
  readonly study?: string;
  readonly map: readonly string[];
}

/** Adds `study import`, which stores the trials of an Optuna study as a warm start. */
export function addStudyImportCommand(study: Command): void {
  study
    .command("import <file>")
    .description("store the trials of an Optuna study (SQLite) as warm start; prints the lines for a study file")
    .option("--study <name>", "name of the study, if the file has several")
    .repeatable("--map <param=path>", "path in the job of an Optuna parameter")
    .handle(async ({ client, json }, file: string, options: Options) => {
      const found = renamed(await readOptunaStudy(file, options.study), options.map);
      const bytes = new TextEncoder().encode(JSON.stringify(found.trials));
      const reference = await uploadBytes(createUploads(client), bytes);
      const { trials, parameters, leftOut } = found;
      if (json) printJson({ study: trials.study, trials: trials.trials.length, leftOut, parameters, ...reference });
      else process.stdout.write(linesOf(found, reference.sha256));
    });
}

/** Renames parameters to their paths in the job. @throws InvalidInputError */
function renamed(found: OptunaStudy, map: readonly string[]): OptunaStudy {
  const names = new Map<string, string>();
  for (const text of map) {
    const [, param = "", path] = /^(.+?)=(.+)$/.exec(text) ?? [];
    const known = Object.keys(found.parameters);
    if (path === undefined || !known.includes(param)) {
      const rule = `must be PARAM=PATH, with one of the study's parameters: ${known.join(", ")}`;
      throw new InvalidInputError("the option is not valid", [{ path: "--map", value: text, rule }]);
    }
    names.set(param, path);
  }
  const rename = <Value>(of: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [names.get(name) ?? name, value]));
  const trials = found.trials.trials.map((trial) => ({ ...trial, params: rename(trial.params) }));
  return {
    ...found,
    trials: { ...found.trials, trials } as ImportedTrials,
    parameters: rename(found.parameters),
    uses: rename(found.uses),
  };
}

function linesOf({ trials, parameters, uses, leftOut }: OptunaStudy, digest: string): string {
  const others = Object.entries(leftOut).map(([state, count]) => `${count} ${state}`);
  const count = trials.trials.length;
  return [
    `# ${count} trials of ${trials.study}${others.length > 0 ? `; left out: ${others.join(", ")}` : ""}`,
    `# objectives: ${trials.directions.join(", ")}`,
    `warmStart: [{ trials: "${digest}" }]`,
    "space:",
    ...Object.entries(parameters).map(([name, parameter]) => {
      const some = uses[name] === count ? "" : `   # in ${uses[name]} trials: add when`;
      return `  ${name}: ${inline(parameter)}${some}`;
    }),
    "",
  ].join("\n");
}

function inline(parameter: Parameter): string {
  const members = Object.entries(parameter).filter(([key, value]) => !(key === "log" && value === false));
  return `{ ${members.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")} }`;
}
