import { Argument } from "commander";
import * as z from "zod";
import { modelOutput, outcomeValue, unit } from "../../api/schemas/serving";
import type { Answer } from "../../client/operations";
import { loggedRow, maxInferenceRows } from "../../core/drift/shapes";
import { inParts } from "../../core/each-limited";
import type { Decided as CanaryDecision } from "../../core/registry/serving/shapes";
import { type Command, invalidOption, wholeNumber } from "../command";
import { contextOf } from "../context";
import { readLines } from "../json-lines";
import { artifactOf } from "../model-reference";
import { exitCodes, formatNumber, printJson, printTable } from "../output";
import { inferenceBatches } from "../prediction-log";

export function addInferencesCommand(models: Command): void {
  models
    .command("inferences <model>")
    .description("log the inferences of a version, idempotently; without --file list them: NAME, NAME@3, NAME@ALIAS")
    .option("--file <file>", "JSON lines or a list of {unit, at, row, prediction, label}; label if it is known")
    .handle(async ({ client, json, print }, which: string, { file }: { file?: string }) => {
      const { model: name, version } = await artifactOf(client, which);
      if (file === undefined) {
        const batches = await inferenceBatches(client, name, version);
        if (json) printJson({ model: name, version, batches });
        else {
          printTable(
            ["BATCH", "ROWS", "FROM", "TO", "RECEIVED"],
            batches.map(({ sequence, rows, from, to, receivedAt }) => [sequence, rows, from, to, receivedAt]),
          );
        }
        return;
      }
      const rows = readLines(file, loggedRow);
      let [stored, known] = [0, 0];
      for (const some of inParts(rows, maxInferenceRows)) {
        const answer = await client.call("logInferences", { params: { name }, body: { version, rows: some } });
        if (answer.repeated) known += answer.stored;
        else stored += answer.stored;
      }
      print(
        { model: name, version, rows: rows.length, stored, known },
        `${name}/${version}: ${stored} of ${rows.length} rows stored, ${known} already stored`,
      );
    });
}

const maxItems = 1_000;

const outcome = z.strictObject({ unit, value: outcomeValue, epoch: z.int().min(0).optional() });
const observation = z.strictObject({ unit, served: modelOutput, shadow: modelOutput });

const outcomesOfDecisions: Readonly<Record<CanaryDecision["done"], string>> = {
  promoted: "promoted",
  "rolled-back": "rolled back",
  none: "test continues",
  refused: "promotion refused",
};

function describeDecision({ version, done, refusal, verdict }: CanaryDecision): string {
  return `version ${version}: ${outcomesOfDecisions[done]}: ${refusal?.message ?? verdict.evidence}`;
}

function addServingReportCommands(models: Command): void {
  models
    .command("outcomes <model> [unit=value...]")
    .description("report outcomes of units; idempotent, because a unit counts once per epoch")
    .option("--epoch <n>", "epoch of the units' routes (`models route` prints it)", wholeNumber("--epoch"))
    .option(
      "--file <file>",
      "file with outcomes: JSON lines or a list of {unit, value, epoch}; epoch defaults to --epoch",
    )
    .action(
      async (name: string, words: readonly string[], options: { epoch?: number; file?: string }, command: Command) => {
        const read = [
          ...words.map(outcomeOf),
          ...(options.file === undefined ? [] : readLines(options.file, outcome)),
        ].map(({ epoch = options.epoch, ...rest }) => ({ ...rest, epoch }));
        if (read.length === 0)
          throw invalidOption("unit=value", undefined, "must be given, or --file with at least one outcome");
        const without = read.find(({ epoch }) => epoch === undefined);
        if (without)
          throw invalidOption("--epoch", undefined, `must be given, because unit ${without.unit} has no epoch`);
        const { client, json } = contextOf(command);
        let [counted, repeated, stale] = [0, 0, 0];
        const decisions = [];
        for (const [epoch, outcomes] of byEpoch(read)) {
          for (const some of inParts(outcomes, maxItems)) {
            const answer = await client.call("reportOutcomes", { params: { name }, body: { epoch, outcomes: some } });
            counted += answer.counted;
            repeated += answer.repeated;
            stale += answer.stale;
            decisions.push(...answer.decisions.filter(({ done }) => done !== "none"));
          }
        }
        if (json) return printJson({ counted, repeated, stale, decisions });
        process.stdout.write(`${counted} counted, ${repeated} already reported, ${stale} of another epoch\n`);
        for (const decision of decisions) process.stdout.write(`${describeDecision(decision)}\n`);
      },
    );

  const shadow = models.command("shadow").description("log and compare predictions of a version that does not serve");
  const version = new Argument("<version>", "version number").argParser(wholeNumber("version"));

  shadow
    .command("log <model>")
    .addArgument(version)
    .description("log a shadow's predictions with the served ones; idempotent")
    .requiredOption(
      "--file <file>",
      "JSON lines or a list of {unit, served, shadow}: classes, numbers or probabilities",
    )
    .action(async (name: string, number: number, { file }: { file: string }, command: Command) => {
      const observations = readLines(file, observation);
      if (observations.length === 0) throw invalidOption("--file", file, "must have at least one pair");
      const { client, json } = contextOf(command);
      let [stored, known] = [0, 0];
      for (const some of inParts(observations, maxItems)) {
        const request = { params: { name, version: number }, body: { observations: some } };
        const answer = await client.call("logShadow", request);
        if (answer.stored) stored += some.length;
        else known += some.length;
      }
      if (json) printJson({ stored, known });
      else process.stdout.write(`${stored} stored, ${known} already stored\n`);
    });

  shadow
    .command("show <model>")
    .addArgument(version)
    .description("show the agreement of a shadow with the served predictions, and the largest differences")
    .handle(async ({ client, json }, name: string, number: number) => {
      const summary = await client.call("getShadow", { params: { name, version: number } });
      if (json) return printJson(summary);
      const { observations, agreement, meanAbsoluteDifference, examples, truncated } = summary;
      const said = [
        `${observations} pairs${truncated ? ", the newest" : ""}`,
        ...(agreement === undefined ? [] : [`same class: ${formatNumber(100 * agreement)} %`]),
        ...(meanAbsoluteDifference === undefined
          ? []
          : [`mean absolute difference: ${formatNumber(meanAbsoluteDifference)}`]),
      ];
      process.stdout.write(`${said.join("; ")}\n`);
      if (examples.length === 0) return;
      printTable(
        ["UNIT", "SERVED", "SHADOW"],
        examples.map((one) => [one.unit, JSON.stringify(one.served), JSON.stringify(one.shadow)]),
      );
    });
}

/** Parses `user-17=1`; the part before the last `=` is the unit. */
function outcomeOf(word: string): z.output<typeof outcome> {
  const at = word.lastIndexOf("=");
  const text = word.slice(at + 1);
  const value = Number(text);
  if (at <= 0 || text.trim() === "" || !Number.isFinite(value))
    throw invalidOption("unit=value", word, "must be a unit, = and a number, e.g. user-17=1");
  return { unit: word.slice(0, at), value };
}

function byEpoch<Item extends { readonly epoch: number | undefined }>(items: readonly Item[]) {
  const epochs = new Map<number, Omit<Item, "epoch">[]>();
  for (const { epoch, ...item } of items) {
    const same = epochs.get(epoch!);
    if (same) same.push(item);
    else epochs.set(epoch!, [item]);
  }
  return epochs;
}

interface TestOptions {
  readonly metric?: string;
  readonly kind?: "binary" | "mean";
  readonly goal?: "increase" | "decrease";
  readonly effect?: number;
  readonly margin?: number;
  readonly alpha?: number;
  readonly minUnits?: number;
  readonly maxUnits?: number;
  readonly automatic?: boolean;
}

interface SetOptions extends TestOptions {
  readonly canary: readonly string[];
  readonly shadow: readonly string[];
  readonly reason: string;
}

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
    .option("--effect <size>", "expected absolute difference; sets how fast the test decides", numberOf("--effect"))
    .option("--margin <size>", "largest acceptable absolute loss against the champion", numberOf("--margin"))
    .option(
      "--alpha <probability>",
      "probability of a wrong decision, over all evaluations of the test",
      numberOf("--alpha"),
    )
    .option("--min-units <n>", "minimum units per version before the test decides", numberOf("--min-units"))
    .option(
      "--max-units <n>",
      "units of a canary after which it is rolled back if the result is not significant",
      numberOf("--max-units"),
    )
    .option("--automatic", "carry out the test's decision when outcomes are reported")
    .option("--reason <text>", "reason to record", "")
    .handle(async ({ client, json }, name: string, options: SetOptions) => {
      const body = {
        canaries: options.canary.map(canaryOf),
        shadows: options.shadow.map(numberOf("--shadow")),
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
  const hasRule = [kind, goal, effect, margin, alpha, minUnits, maxUnits, automatic].some(
    (value) => value !== undefined,
  );
  if (metric === undefined) {
    if (hasRule) throw invalidOption("--metric", undefined, "must be given with the other options of a test");
    return undefined;
  }
  if (effect === undefined) throw invalidOption("--effect", undefined, "must be given with --metric");
  return {
    ...{ metric, effect, kind, goal, margin, alpha, minUnits, maxUnits },
    act: automatic ? ("automatic" as const) : undefined,
  };
}

function canaryOf(text: string): { readonly version: number; readonly weight: number } {
  const match = /^(\d{1,9})=(\d*\.?\d+)$/.exec(text);
  if (!match) throw invalidOption("--canary", text, "must be VERSION=WEIGHT, e.g. 4=0.1");
  return { version: Number(match[1]), weight: Number(match[2]) };
}

function numberOf(option: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) throw invalidOption(option, text, "must be a number");
    return value;
  };
}
