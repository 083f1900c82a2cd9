import { InvalidInputError } from "../core/errors";
import type { Job } from "../core/runs/job";
import { paramsOfJob } from "../core/tracking/records/training-record";
import { parseYamlValue } from "../core/yaml-input";
import { jobFileSchema } from "./job-file";

/** Largest number of runs of one submission. */
export const maxGroup = 1_000;

/** Short names of settings. */
const aliases: Readonly<Record<string, string>> = { lr: "hyperparameters.learningRate" };

/** A combination of settings: those of one run. */
export interface Combination {
  /** `path=value`, each with one value and a whole path. */
  readonly settings: readonly string[];
  /** The settings with several values, by the names of the options. */
  readonly swept: readonly string[];
}

/**
 * Expands `--set` options with several values to their cross product. `path=1,2`, `path=[8],[16]` and `path=1..5` have
 * several values; `path=[8,16]` and a quoted text are one value. A setting may be named by the end of its path, if no
 * other ends so.
 *
 * @param readJob returns the job without the options, whose settings can be named
 * @returns the last option changes fastest
 * @throws InvalidInputError
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
  const found = Object.keys(paramsOfJob(readJob())).filter((path) => path.endsWith(`.${name}`));
  if (found.length <= 1) return found[0] ?? name;
  const rule = `must be a whole path, because several settings end so: ${found.join(", ")}`;
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
