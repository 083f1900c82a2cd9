import { parse } from "yaml";
import { InvalidInputError } from "../core/errors";
import type { Job } from "../core/runs/job";
import { paramsOfJob } from "../core/tracking/records/training-record";

/** Largest number of runs of one submission. */
export const maxGroup = 1_000;

/** Short names of settings. */
const aliases: Readonly<Record<string, string>> = { lr: "hyperparameters.learningRate" };

/**
 * Expands `--set` options with several values to their cross product. `path=1,2` and `path=1..5` have several values; a
 * list in brackets or a quoted text is one value. A setting may be named by the end of its path, if no other ends so.
 *
 * @param job the job without the options, whose settings can be named
 * @returns the options of each run, each with one value; the last option changes fastest
 * @throws InvalidInputError
 */
export function expandSettings(settings: readonly string[], job: Job): readonly (readonly string[])[] {
  const options = settings.map((text): readonly string[] => {
    const at = text.indexOf("=");
    if (at < 1) return [text]; // the job file's parser refuses it
    const path = fullPath(text.slice(0, at), job);
    return valuesOf(text.slice(at + 1)).map((value) => `${path}=${value}`);
  });
  const size = options.reduce((product, { length }) => product * length, 1);
  if (size > maxGroup) {
    const rule = `must give at most ${maxGroup} runs, but the values give ${size}; use a study for a larger search`;
    throw new InvalidInputError("the settings are not valid", [{ path: "--set", value: settings.join(" "), rule }]);
  }
  return options.reduce<readonly (readonly string[])[]>(
    (groups, values) => groups.flatMap((group) => values.map((value) => [...group, value])),
    [[]],
  );
}

function fullPath(name: string, job: Job): string {
  if (Object.hasOwn(aliases, name)) return aliases[name] as string;
  if (name.includes(".") || Object.hasOwn(job, name)) return name;
  const found = Object.keys(paramsOfJob(job)).filter((path) => path.endsWith(`.${name}`));
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
    const isOne = /^\s*["'[{]/.test(text) && text.trim() !== "";
    const members: unknown = isOne ? [text] : parse(`[${text}]`);
    if (isOne || !Array.isArray(members) || members.length < 2) return [text];
    return members.map((member) => JSON.stringify(member));
  } catch {
    return [text]; // the job file's parser refuses it
  }
}
