import { existsSync, statSync } from "node:fs";
import * as z from "zod";
import { InvalidInputError } from "../../core/errors";
import type { Json, Parameter } from "../../core/tuning/space";
import type { ImportedTrials } from "../../core/tuning/warm-start";
import type { Command } from "../command";
import { printJson } from "../output";
import { createUploads, uploadBytes } from "../uploads";

/** A study of a database, as this platform describes it. */
interface OptunaStudy {
  readonly trials: ImportedTrials;
  /** By name, as the newest trial that has them describes them. */
  readonly parameters: Readonly<Record<string, Parameter>>;
  /** Number of trials that have each parameter. */
  readonly uses: Readonly<Record<string, number>>;
  /** Numbers of trials in states that tell a sampler nothing. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** `optuna.storages._rdb.models.SCHEMA_VERSION`, since Optuna 3.0. */
const schemaVersion = 12;
const maxTrials = 10_000;

interface Database {
  all(sql: string, values?: readonly (string | number)[]): Record<string, unknown>[];
  close(): void;
}

/**
 * Reads a study from the SQLite file of Optuna's `RDBStorage`.
 *
 * @param name may be left out if the file has one study
 * @throws InvalidInputError if the file is none, or has no such study
 */
export async function readOptunaStudy(file: string, name?: string): Promise<OptunaStudy> {
  const refuse = (rule: string, cause?: unknown) =>
    new InvalidInputError("the study cannot be imported", [{ path: "file", value: file, rule }], cause);
  if (!existsSync(file) || !statSync(file).isFile()) throw refuse("must be a readable file");
  const journal = `${file}-wal`;
  if (existsSync(journal) && statSync(journal).size > 0)
    throw refuse(
      `has changes in ${journal}; close the programs that use it, or run: sqlite3 FILE 'PRAGMA wal_checkpoint'`,
    );
  // Loaded only by this command.
  const { Database } = await import("node-sqlite3-wasm");
  let database: Database | undefined;
  try {
    database = new Database(file, { readOnly: true, fileMustExist: true }) as unknown as Database;
    const tables = new Set(database.all("SELECT name FROM sqlite_master").map((row) => row["name"]));
    const missing = ["version_info", "studies", "trials", "trial_params", "trial_values"].filter(
      (one) => !tables.has(one),
    );
    if (missing.length > 0) throw refuse(`must be a database of Optuna; it has no table ${missing.join(", ")}`);
    const version = database.all("SELECT schema_version FROM version_info")[0]?.["schema_version"];
    if (version !== schemaVersion) {
      throw refuse(
        `has the schema version ${version}, but only ${schemaVersion} can be read (Optuna 3.0 and later); run: optuna storage upgrade --storage sqlite:///FILE`,
      );
    }
    return studyOf(database, name, refuse);
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    throw refuse(`must be an SQLite database: ${(error as Error).message}`, error);
  } finally {
    database?.close();
  }
}

type Row = Readonly<Record<string, unknown>>;

function studyOf(
  database: Database,
  name: string | undefined,
  refuse: (rule: string) => InvalidInputError,
): OptunaStudy {
  const studies = database.all("SELECT study_id, study_name FROM studies ORDER BY study_id");
  const names = studies.map((row) => String(row["study_name"]));
  const chosen = name === undefined && studies.length === 1 ? 0 : names.indexOf(name ?? "");
  if (chosen === -1) {
    const rule = name === undefined ? "has several studies" : `has no study ${JSON.stringify(name)}`;
    throw refuse(studies.length === 0 ? "has no study" : `${rule}; name one with --study: ${names.join(", ")}`);
  }
  const id = Number(studies[chosen]?.["study_id"]);
  const directions = database
    .all("SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", [id])
    .map((row) => (row["direction"] === "MAXIMIZE" ? "maximize" : "minimize"));
  const trials = database.all("SELECT trial_id, state FROM trials WHERE study_id = ? ORDER BY number", [id]);
  if (trials.length > maxTrials) throw refuse(`has ${trials.length} trials, but at most ${maxTrials} can be imported`);
  const rowsOf = (table: string, columns: string): ReadonlyMap<unknown, readonly Row[]> => {
    const own = "SELECT trial_id FROM trials WHERE study_id = ?";
    const groups = new Map<unknown, Row[]>();
    for (const row of database.all(`SELECT trial_id, ${columns} FROM ${table} WHERE trial_id IN (${own})`, [id])) {
      const group = groups.get(row["trial_id"]);
      if (group) group.push(row);
      else groups.set(row["trial_id"], [row]);
    }
    return groups;
  };
  const params = rowsOf("trial_params", "param_name, param_value, distribution_json");
  const values = rowsOf("trial_values", "objective, value, value_type");
  const reports = rowsOf("trial_intermediate_values", "step, intermediate_value, intermediate_value_type");
  const attributes = rowsOf("trial_system_attributes", "key, value_json");

  const parameters: Record<string, Parameter> = {};
  const uses: Record<string, number> = {};
  const leftOut: Record<string, number> = {};
  const imported = trials.flatMap(({ trial_id: trial, state }): ImportedTrials["trials"][number][] => {
    const ended = endOf(state, values.get(trial) ?? [], directions.length);
    if (ended === undefined) {
      const why = String(state).toLowerCase();
      leftOut[why] = (leftOut[why] ?? 0) + 1;
      return [];
    }
    const point: Record<string, Json> = {};
    for (const row of params.get(trial) ?? []) {
      const param = String(row["param_name"]);
      const parameter = parameterOf(String(row["distribution_json"]), refuse);
      parameters[param] = parameter;
      uses[param] = (uses[param] ?? 0) + 1;
      point[param] = decoded(parameter, Number(row["param_value"]));
    }
    return [
      {
        ...ended,
        params: point,
        reports: (reports.get(trial) ?? [])
          .filter((row) => row["intermediate_value_type"] === "FINITE" && Number(row["step"]) >= 0)
          .map((row) => ({ epoch: Number(row["step"]), value: Number(row["intermediate_value"]) }))
          .sort((a, b) => a.epoch - b.epoch),
        ...constraintsOf(attributes.get(trial) ?? []),
      },
    ];
  });
  const document = { format: "ringmaster/trials@1" as const, study: names[chosen] as string };
  if (imported.length === 0) throw refuse(`has no completed or pruned trial in its study ${document.study}`);
  return { trials: { ...document, directions, trials: imported } as ImportedTrials, parameters, uses, leftOut };
}

/** Returns a trial's end; `undefined` if it has no finite values, or has not ended. */
function endOf(
  state: unknown,
  rows: readonly Row[],
  objectives: number,
): Pick<ImportedTrials["trials"][number], "state" | "values"> | undefined {
  if (state === "PRUNED") return { state: "stopped" };
  const sorted = [...rows].sort((a, b) => Number(a["objective"]) - Number(b["objective"]));
  const finite = sorted.length === objectives && sorted.every((row) => row["value_type"] === "FINITE");
  if (state !== "COMPLETE" || !finite) return undefined;
  return { state: "completed", values: sorted.map((row) => Number(row["value"])) };
}

/** `optuna.samplers._base._CONSTRAINTS_KEY`; at most 0 where a constraint is kept, as here. */
function constraintsOf(rows: readonly Row[]): { readonly constraints?: readonly number[] } {
  const text = rows.find((row) => row["key"] === "constraints")?.["value_json"];
  const parsed = z.array(z.number()).safeParse(text === undefined ? undefined : JSON.parse(String(text)));
  return parsed.success ? { constraints: parsed.data } : {};
}

const distribution = z.object({
  name: z.string(),
  attributes: z.object({
    low: z.number().optional(),
    high: z.number().optional(),
    log: z.boolean().optional(),
    step: z.number().nullable().optional(),
    q: z.number().optional(),
    choices: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  }),
});

/** Names of distributions by `optuna.distributions`, those of versions before 3.0 included. */
const kinds: Readonly<Record<string, { readonly type: "float" | "int"; readonly log?: true }>> = {
  FloatDistribution: { type: "float" },
  UniformDistribution: { type: "float" },
  LogUniformDistribution: { type: "float", log: true },
  DiscreteUniformDistribution: { type: "float" },
  IntDistribution: { type: "int" },
  IntUniformDistribution: { type: "int" },
  IntLogUniformDistribution: { type: "int", log: true },
};

function parameterOf(text: string, refuse: (rule: string) => InvalidInputError): Parameter {
  const parsed = distribution.safeParse(JSON.parse(text));
  if (!parsed.success) throw refuse(`has a parameter whose distribution cannot be read: ${text.slice(0, 200)}`);
  const { name, attributes } = parsed.data;
  const { choices, low = 0, high = 0, q } = attributes;
  if (choices) return { type: "categorical", choices };
  const kind = kinds[name];
  if (kind === undefined) throw refuse(`has a parameter of the unknown distribution ${name}`);
  const log = kind.log ?? attributes.log ?? false;
  const step = attributes.step ?? q;
  if (kind.type === "int") return { type: "int", low, high, log, step: step ?? 1 };
  return { type: "float", low, high, log, ...(step === undefined ? {} : { step }) };
}

/** Decodes a stored value; of a categorical parameter it is the index of the choice. */
function decoded(parameter: Parameter, stored: number): Json {
  if (parameter.type === "categorical") return parameter.choices[stored] as Json;
  return parameter.type === "int" ? Math.round(stored) : stored;
}

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
