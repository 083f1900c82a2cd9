import { parseArgs } from "node:util";

type Default = number | string | false;
type Value<T extends Default> = T extends number ? number : T extends string ? string : boolean;
type Options<T> = { readonly [K in keyof T]: T[K] extends Default ? Value<T[K]> : never } & { readonly json: boolean };

/**
 * Reads the options of a bench. A default states the type of its option: a number, a text, or `false` for a flag. An
 * option without a default is an empty text. `peerRuns` is `--peer-runs`. Every bench has the flag `--json`.
 *
 * @throws BadOptionError for a number that is none
 */
export function parseOptions<T extends Readonly<Record<string, Default>>>(
  args: readonly string[],
  defaults: T,
): Options<T> {
  const all: Readonly<Record<string, Default>> = { ...defaults, json: false };
  const options = Object.entries(all).map(([name, value]) => {
    return [optionOf(name), { type: value === false ? ("boolean" as const) : ("string" as const) }] as const;
  });
  const { values } = parseArgs({ args: [...args], options: Object.fromEntries(options) });
  const read = ([name, otherwise]: [string, Default]) => {
    const value = values[optionOf(name)] ?? otherwise;
    if (typeof otherwise !== "number") return [name, value];
    if (Number.isNaN(Number(value)))
      throw new BadOptionError(`--${optionOf(name)} is '${value}', but must be a number`);
    return [name, Number(value)];
  };
  return Object.fromEntries(Object.entries(all).map(read)) as Options<T>;
}

const optionOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const list = (value: string) => value.split(",").filter(Boolean);

export class BadOptionError extends Error {}

/** @throws BadOptionError if a value of an option is unknown */
export function checked<T extends string>(option: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  if (found === undefined) throw new BadOptionError(`--${option} has '${value}', but knows ${known.join(", ")}`);
  return found;
}
