import type { Command } from "commander";
import { InvalidInputError } from "../../core/errors";
import { contextOf } from "../context";
import { formatNumber, printJson, printTable } from "../output";
import { addServingReportCommands } from "./serving-reports";

interface TestOptions {
  readonly metric?: string;
  readonly kind?: "binary" | "mean";
  readonly goal?: "increase" | "decrease";
  readonly effect?: string;
  readonly margin?: string;
  readonly alpha?: string;
  readonly minUnits?: string;
  readonly maxUnits?: string;
  readonly automatic?: boolean;
}

interface SetOptions extends TestOptions {
  readonly canary: readonly string[];
  readonly shadow: readonly string[];
  readonly reason: string;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Under `ringmaster models`: who answers whom. */
export function addServingCommands(models: Command): void {
  const traffic = models.command("traffic").description("who answers whom: canaries, shadows, their test");

  traffic
    .command("show <model>")
    .description("arms, what their units reported, what the test says")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const state = await client.call("getTraffic", { params: { name } });
      if (json) printJson(state);
      else printState(state);
    });

  traffic
    .command("set <model>")
    .description("give canaries a part of the units; without any the champion has all")
    .option(
      "--canary <version=weight>",
      "a version in stage canary and its part, e.g. 4=0.1; may be repeated",
      collect,
      [],
    )
    .option("--shadow <version>", "a version that is asked too, unseen; may be repeated", collect, [])
    .option("--metric <name>", "what is reported of a unit, for a test")
    .option("--kind <binary|mean>", "outcomes are 0 or 1, or any number")
    .option("--goal <increase|decrease>", "what is good")
    .option("--effect <size>", "the size of difference that is looked for, absolute")
    .option("--margin <size>", "how much worse is still good enough, absolute")
    .option("--alpha <probability>", "of a wrong decision, over all looks together")
    .option("--min-units <n>", "of each arm before anything is decided")
    .option("--max-units <n>", "of the canary before it goes back without proof")
    .option("--automatic", "carry out what the test decides when outcomes come in")
    .option("--reason <text>", "why", "")
    .action(async (name: string, options: SetOptions, command: Command) => {
      const { client, json } = contextOf(command);
      const test = testOf(options);
      const body = {
        canaries: options.canary.map(canaryOf),
        shadows: options.shadow.map((version) => numberOf("--shadow", version)),
        reason: options.reason,
        ...(test === undefined ? {} : { test }),
      };
      const state = await client.call("setTraffic", { params: { name }, body });
      if (json) printJson(state);
      else printState(state);
    });

  traffic
    .command("decide <model>")
    .description("carry out what the test of the canaries says")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const { decisions } = await client.call("decideTraffic", { params: { name } });
      if (json) printJson({ decisions });
      else {
        for (const { version, verdict, done, refusal } of decisions) {
          process.stdout.write(
            `version ${version}: ${verdict.decision}, ${done}; ${refusal?.message ?? verdict.evidence}\n`,
          );
        }
      }
    });

  models
    .command("route <model> <unit...>")
    .description("which version answers a unit")
    .action(async (name: string, units: readonly string[], _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const routes = await client.call("routeUnits", { params: { name }, body: { units: [...units] } });
      if (json) {
        printJson(routes);
        return;
      }
      printTable(
        ["UNIT", "VERSION", "ROLE"],
        routes.assignments.map((one) => [one.unit, one.version, one.role]),
      );
      process.stdout.write(
        `epoch ${routes.epoch}: ringmaster models outcomes ${name} --epoch ${routes.epoch} UNIT=VALUE\n`,
      );
    });

  addServingReportCommands(models);
}

type State = {
  readonly champion?: number;
  readonly traffic: {
    readonly canaries: readonly { readonly version: number; readonly weight: number }[];
    readonly shadows: readonly number[];
  };
  readonly arms: readonly {
    readonly version: number;
    readonly role: string;
    readonly units: number;
    readonly sum: number;
    readonly verdict?: { readonly decision: string; readonly evidence: string };
  }[];
};

function printState({ traffic, arms }: State): void {
  const rest = 1 - traffic.canaries.reduce((sum, { weight }) => sum + weight, 0);
  const part = (version: number): number => traffic.canaries.find((arm) => arm.version === version)?.weight ?? rest;
  printTable(
    ["VERSION", "ROLE", "PART", "UNITS", "MEAN", "TEST"],
    arms.map(({ version, role, units, sum, verdict }) => [
      version,
      role,
      formatNumber(part(version)),
      units,
      units === 0 ? "–" : formatNumber(sum / units),
      verdict?.decision ?? "–",
    ]),
  );
  for (const { version, verdict } of arms) {
    if (verdict) process.stdout.write(`  version ${version}: ${verdict.evidence}\n`);
  }
  if (traffic.shadows.length > 0) process.stdout.write(`  shadows: ${traffic.shadows.join(", ")}\n`);
}

function testOf(options: TestOptions) {
  const { metric, kind, goal, effect, margin, alpha, minUnits, maxUnits, automatic } = options;
  const given = [kind, goal, effect, margin, alpha, minUnits, maxUnits, automatic].some((value) => value !== undefined);
  if (metric === undefined) {
    if (given) throw invalid("--metric", undefined, "must be given with the other options of a test");
    return undefined;
  }
  if (effect === undefined) throw invalid("--effect", undefined, "must be given with --metric");
  const number = (name: string, value: string | undefined) =>
    value === undefined ? {} : { [name]: numberOf(`--${name}`, value) };
  return {
    metric,
    effect: numberOf("--effect", effect),
    ...(kind === undefined ? {} : { kind }),
    ...(goal === undefined ? {} : { goal }),
    ...number("margin", margin),
    ...number("alpha", alpha),
    ...number("minUnits", minUnits),
    ...number("maxUnits", maxUnits),
    ...(automatic ? { act: "automatic" as const } : {}),
  };
}

function canaryOf(text: string): { readonly version: number; readonly weight: number } {
  const match = /^(\d{1,9})=(\d*\.?\d+)$/.exec(text);
  if (!match) throw invalid("--canary", text, "must be VERSION=WEIGHT, e.g. 4=0.1");
  return { version: Number(match[1]), weight: Number(match[2]) };
}

function numberOf(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw invalid(option, text, "must be a number");
  return value;
}

function invalid(path: string, value: string | undefined, rule: string): InvalidInputError {
  return new InvalidInputError("the options", [{ path, ...(value === undefined ? {} : { value }), rule }]);
}
