import { type Document, isMap } from "yaml";
import * as z from "zod";
import { InvalidInputError, type Problem } from "../core/errors";
import { parseFeaturePlan } from "../core/feature-plans/plan-file";
import { type Job, jobSchema } from "../core/runs/job";
import { paramsOfJob } from "../core/tracking/records/training-record";
import { hasPassword, passwordRule } from "../core/url-password";
import { parseYamlInput, parseYamlValue } from "../core/yaml-input";

/** Largest number of runs of one submission. */
const maxGroup = 1_000;

/** Short names of settings. */
const aliases: Readonly<Record<string, string>> = { lr: "hyperparameters.learningRate" };

interface Combination {
  /** `path=value`, each with one value and a whole path. */
  readonly settings: readonly string[];
  /** The settings with several values, by the names of the options. */
  readonly swept: readonly string[];
}

/**
 * Expands `--set` options to their cross product: `path=1,2`, `path=[8],[16]` and `path=1..5` have several values,
 * `path=[8,16]` one. The last option changes fastest. @throws InvalidInputError
 */
export function expandSettings(options: readonly string[], readJob: () => Job): readonly Combination[] {
  const choices = options.map((text): readonly Combination[] => {
    const at = text.indexOf("=");
    if (at < 1) return [{ settings: [text], swept: [] }]; // the job file's parser refuses it
    const name = text.slice(0, at);
    const path = fullPath(name, readJob);
    const values = valuesOf(text.slice(at + 1));
    return values.map((value) => ({
      settings: [`${path}=${value}`],
      swept: values.length > 1 ? [`${name}=${shortText(value)}`] : [],
    }));
  });
  const size = choices.reduce((product, { length }) => product * length, 1);
  if (size > maxGroup) {
    const rule = `must give at most ${maxGroup} runs, but the values give ${size}; use a study for a larger search`;
    throw new InvalidInputError("the settings are not valid", [{ path: "--set", value: options.join(" "), rule }]);
  }
  return choices.reduce<readonly Combination[]>(
    (groups, values) =>
      groups.flatMap(({ settings, swept }) =>
        values.map((value) => ({
          settings: [...settings, ...value.settings],
          swept: [...swept, ...value.swept],
        })),
      ),
    [{ settings: [], swept: [] }],
  );
}

/** Returns a value without the quotes of a plain text. */
function shortText(value: string): string {
  return /^"[\w.@/-]+"$/.test(value) ? value.slice(1, -1) : value;
}

function fullPath(name: string, readJob: () => Job): string {
  if (Object.hasOwn(aliases, name)) return aliases[name] as string;
  if (name.includes(".") || Object.hasOwn(jobFileSchema.shape, name)) return name;
  const paths = Object.keys(paramsOfJob(readJob())).filter((path) => path.endsWith(`.${name}`));
  if (paths.length <= 1) return paths[0] ?? name;
  const rule = `must be a whole path, because several settings end so: ${paths.join(", ")}`;
  throw new InvalidInputError("the settings are not valid", [{ path: "--set", value: name, rule }]);
}

function valuesOf(text: string): readonly string[] {
  const [, first, last] = /^(-?\d+)\.\.(-?\d+)$/.exec(text) ?? [];
  if (first !== undefined && last !== undefined) {
    const [from, to] = [Number(first), Number(last)];
    if (to >= from && to - from < maxGroup) return Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
    const rule = `must be a range FIRST..LAST that ascends, with at most ${maxGroup} values`;
    throw new InvalidInputError("the settings are not valid", [{ path: "--set", value: text, rule }]);
  }
  // A comma outside of brackets, braces and quotes separates values: YAML reads them as the members of a list.
  try {
    const members = parseYamlValue(`[${text}]`);
    if (!Array.isArray(members) || members.length < 2) return [text];
    return members.map((member) => JSON.stringify(member));
  } catch {
    return [text]; // the job file's parser refuses it
  }
}

const text = z.string().min(1).max(4_096);

const place = text.refine((value) => !hasPassword(value), passwordRule);

const paths = z.union([place, z.array(place).min(1).max(1_000)]);

const described = z.strictObject({
  path: paths,
  schema: text.optional(),
  label: text.optional(),
  missing: z.array(z.string().min(1).max(64)).max(100).optional(),
  size: z
    .string()
    .regex(/^[1-9]\d{0,4}x[1-9]\d{0,4}(x[13])?$/, "must be a size such as 32x32 or 32x32x3")
    .optional(),
  allowSchemaChange: z.boolean().optional(),
});

/** The source of a job's data, as a job file names it: paths and URLs, or a mapping with the options of a push. */
const dataSourceSchema = z.union([paths, described]);

export interface DataSource extends Omit<z.output<typeof described>, "path"> {
  readonly paths: readonly string[];
}

function dataSourceOf(input: z.output<typeof dataSourceSchema>): DataSource {
  if (typeof input === "string" || Array.isArray(input)) return { paths: [input].flat() };
  const { path, ...options } = input;
  return { ...options, paths: [path].flat() };
}

export interface JobFile {
  readonly job: Job;
  readonly dataSource?: DataSource;
}

/** The schema of a job file. The data's source is no part of the job: its version is. */
const jobFileSchema = jobSchema.safeExtend({ data_source: dataSourceSchema.optional() }).refine(() => false, {
  path: ["dataset"],
  when: ({ value }) => hasVersionAndSource(value),
  error: "must be the dataset's NAME where data_source is given, whose version the run uses",
});

function hasVersionAndSource(value: unknown): boolean {
  const { dataset, data_source: source } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return source !== undefined && typeof dataset === "string" && dataset.includes("@");
}

/**
 * Reads a job file. `overrides` are `path=value` pairs with values in YAML; `readPlan` reads the plan that
 * `features.plan` names. @throws InvalidInputError with every problem: line, path, value, rule
 */
export function parseJobFile(
  fileName: string,
  text: string,
  overrides: readonly string[] = [],
  readPlan?: (file: string) => string,
): JobFile {
  const settings = overrides.map(parseOverride);
  for (const [index, { path }] of settings.entries()) {
    const earlier = settings.slice(0, index).find((one) => isPrefix(one.path, path) || isPrefix(path, one.path));
    if (!earlier) continue;
    const rule = `must not set what another --set sets: ${earlier.path.join(".")}`;
    throw badOverride(overrides[index]!, rule);
  }
  const { value } = parseYamlInput(fileName, text, jobFileSchema, (document) => {
    for (const { path, value } of settings) set(document, path, value);
    const file = document.getIn(["features", "plan"]);
    if (readPlan && typeof file === "string") {
      document.setIn(["features", "plan"], document.createNode(parseFeaturePlan(readPlan(file), file)));
    }
  });
  const { data_source: source, ...job } = value;
  return { job, ...(source === undefined ? {} : { dataSource: dataSourceOf(source) }) };
}

function parseOverride(text: string): { readonly path: readonly string[]; readonly value: unknown } {
  const at = text.indexOf("=");
  const path = text.slice(0, at).split(".");
  if (at < 1 || path.some((part) => part === ""))
    throw badOverride(text, "must be PATH=VALUE, e.g. resources.workers=3");
  try {
    return { path, value: parseYamlValue(text.slice(at + 1)) };
  } catch (cause) {
    throw badOverride(text, cause instanceof RangeError ? cause.message : "must have a YAML value after the =", cause);
  }
}

function isPrefix(path: readonly string[], of: readonly string[]): boolean {
  return path.every((part, index) => part === of[index]);
}

/** Creates sections that the file omits. A plain value on the path is an error of its own. */
function set(document: Document, path: readonly string[], value: unknown): void {
  for (let depth = 1; depth < path.length; depth += 1) {
    const section = path.slice(0, depth);
    const node: unknown = document.getIn(section, true);
    if (node === undefined || node === null) document.setIn(section, document.createNode({}));
    else if (!isMap(node))
      throw badOverride(`${path.join(".")}=…`, `cannot be set: ${section.join(".")} is not a mapping`);
  }
  document.setIn(path, value);
}

function badOverride(text: string, rule: string, cause?: unknown): InvalidInputError {
  const problems: readonly Problem[] = [{ path: "--set", value: text, rule }];
  return new InvalidInputError("the override is not valid", problems, cause);
}
