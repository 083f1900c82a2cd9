import { Argument } from "commander";
import * as z from "zod";
import { modelOutput, outcomeValue, unit } from "../../api/schemas/serving";
import type { Decided as CanaryDecision } from "../../core/registry/serving/shapes";
import type { Command } from "../command";
import { contextOf } from "../context";
import { readLines } from "../json-lines";
import { invalidOption, wholeNumber } from "../option-values";
import { formatNumber, printJson, printTable } from "../output";

/** Maximum number of items in a request. */
const maxItems = 1_000;

const outcome = z.strictObject({ unit, value: outcomeValue, epoch: z.int().min(0).optional() });
const observation = z.strictObject({ unit, served: modelOutput, shadow: modelOutput });

const outcomesOfDecisions: Readonly<Record<CanaryDecision["done"], string>> = {
  promoted: "promoted",
  "rolled-back": "rolled back",
  none: "test continues",
  refused: "promotion refused",
};

/** Describes the action on a canary, and the reason, in one line. */
export function describeDecision({ version, done, refusal, verdict }: CanaryDecision): string {
  return `version ${version}: ${outcomesOfDecisions[done]}: ${refusal?.message ?? verdict.evidence}`;
}

/** Commands under `ringmaster models` that report outcomes of units and predictions of shadows. */
export function addServingReportCommands(models: Command): void {
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
          for (const some of batches(outcomes)) {
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
      for (const some of batches(observations)) {
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

function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let at = 0; at < items.length; at += maxItems) yield items.slice(at, at + maxItems);
}
