import type { Answer } from "../../client/operations";
import type { Command } from "../command";
import { invalidOption } from "../option-values";
import { exitCodes, formatNumber, printJson, printTable } from "../output";
import { addServingReportCommands, describeDecision } from "./serving-reports";

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

/** Adds the commands under `ringmaster models` for the routing of requests. */
export function addServingCommands(models: Command): void {
  const traffic = models
    .command("traffic")
    .description("split requests between versions: canaries, shadows and their test");

  traffic
    .command("show <model>")
    .description("show the versions that serve, their outcomes and the test's decision")
    .handle(async ({ client, json }, name: string) => {
      const state = await client.call("getTraffic", { params: { name } });
      if (json) printJson(state);
      else printState(state);
    });

  traffic
    .command("set <model>")
    .description("send a share of the units to canaries; without --canary the champion gets all units")
    .repeatable("--canary <version=weight>", "a version in stage canary and its share, e.g. 4=0.1")
    .repeatable("--shadow <version>", "a version whose predictions are logged and not served")
    .option("--metric <name>", "name of the outcome that the test compares")
    .option("--kind <binary|mean>", "outcomes are 0 or 1 (binary), or any number (mean)")
    .option("--goal <increase|decrease>", "direction of improvement")
    .option("--effect <size>", "expected absolute difference; sets how fast the test decides")
    .option("--margin <size>", "largest acceptable absolute loss against the champion")
    .option("--alpha <probability>", "probability of a wrong decision, over all evaluations of the test")
    .option("--min-units <n>", "minimum units per version before the test decides")
    .option("--max-units <n>", "units of a canary after which it is rolled back if the result is not significant")
    .option("--automatic", "carry out the test's decision when outcomes are reported")
    .option("--reason <text>", "reason to record", "")
    .handle(async ({ client, json }, name: string, options: SetOptions) => {
      const body = {
        canaries: options.canary.map(canaryOf),
        shadows: options.shadow.map((version) => numberOf("--shadow", version)),
        reason: options.reason,
        test: testOf(options),
      };
      const state = await client.call("setTraffic", { params: { name }, body });
      if (json) printJson(state);
      else printState(state);
    });

  traffic
    .command("decide <model>")
    .description("carry out the decision of the canary test; exit code 3 if the promotion is refused")
    .handle(async ({ client, json }, name: string) => {
      const { decisions } = await client.call("decideTraffic", { params: { name } });
      if (decisions.some(({ done }) => done === "refused")) process.exitCode = exitCodes.refused;
      if (json) printJson({ decisions });
      else process.stdout.write(decisions.map((one) => `${describeDecision(one)}\n`).join(""));
    });

  models
    .command("route <model> <unit...>")
    .description("show the version that serves each unit")
    .handle(async ({ client, json }, name: string, units: readonly string[]) => {
      const routes = await client.call("routeUnits", { params: { name }, body: { units: [...units] } });
      if (json) return printJson(routes);
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

function printState({ traffic, arms }: Answer<"getTraffic">): void {
  const rest = 1 - traffic.canaries.reduce((sum, { weight }) => sum + weight, 0);
  const part = (version: number): number => traffic.canaries.find((arm) => arm.version === version)?.weight ?? rest;
  printTable(
    ["VERSION", "ROLE", "SHARE", "UNITS", "MEAN", "TEST"],
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
    if (given) throw invalidOption("--metric", undefined, "must be given with the other options of a test");
    return undefined;
  }
  if (effect === undefined) throw invalidOption("--effect", undefined, "must be given with --metric");
  const number = (name: string, value: string | undefined) =>
    value === undefined ? undefined : numberOf(`--${name}`, value);
  return {
    ...{ metric, effect: numberOf("--effect", effect), kind, goal },
    margin: number("margin", margin),
    alpha: number("alpha", alpha),
    minUnits: number("minUnits", minUnits),
    maxUnits: number("maxUnits", maxUnits),
    act: automatic ? ("automatic" as const) : undefined,
  };
}

function canaryOf(text: string): { readonly version: number; readonly weight: number } {
  const match = /^(\d{1,9})=(\d*\.?\d+)$/.exec(text);
  if (!match) throw invalidOption("--canary", text, "must be VERSION=WEIGHT, e.g. 4=0.1");
  return { version: Number(match[1]), weight: Number(match[2]) };
}

function numberOf(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw invalidOption(option, text, "must be a number");
  return value;
}
