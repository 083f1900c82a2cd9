import { parseArgs } from "node:util";
import { BadOptionError } from "../support/arguments";
import { type ScenarioName, scenarioNames, scenarios } from "./scenarios";

export interface ElasticOptions {
  readonly scenarios: readonly ScenarioName[];
  /** Undefined: each scenario's own number. */
  readonly trials: number | undefined;
  readonly workers: number;
  readonly backend: "wasm" | "native";
  readonly seed: number;
  readonly json: boolean;
  readonly verbose: boolean;
  /** Folder for transcripts of trials: of failed ones, or of all. */
  readonly keep: string | undefined;
}

export const usage =
  "usage: npm run bench -- elastic [--scenario kill,stop,cut,join,two,all,big,chaos] [--trials N] [--workers 3] [--backend wasm|native] [--seed N] [--verbose] [--keep FOLDER] [--json]";

/** @throws Error that names the wrong option */
export function readOptions(args: readonly string[]): ElasticOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scenario: { type: "string", multiple: true },
      trials: { type: "string" },
      workers: { type: "string", default: "3" },
      backend: { type: "string", default: "wasm" },
      seed: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
      verbose: { type: "boolean", default: false },
      keep: { type: "string" },
    },
  });
  const requested = (values.scenario ?? scenarioNames.filter((name) => !scenarios[name].onRequest)).flatMap((list) =>
    list.split(","),
  );
  const unknown = requested.find((name) => !scenarioNames.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`there is no scenario ${unknown}; ${usage}`);
  if (values.backend !== "wasm" && values.backend !== "native") throw new Error(`backend ${values.backend}; ${usage}`);
  return {
    scenarios: scenarioNames.filter((name) => requested.includes(name)),
    trials: values.trials === undefined ? undefined : whole("trials", values.trials, 1, 10_000),
    workers: whole("workers", values.workers, 2, 8),
    backend: values.backend,
    seed: whole("seed", values.seed, 0, 2 ** 32 - 1),
    json: values.json,
    verbose: values.verbose,
    keep: values.keep,
  };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new BadOptionError(`--${name} is ${text}, but must be a whole number from ${least} to ${most}`);
}
