import { randomUUID } from "node:crypto";
import { Argument, type Command } from "commander";
import { stages } from "../../core/registry/model";
import { verdictWord } from "../../core/registry/report/report";
import { contextOf } from "../context";
import { exitCodes, printJson } from "../output";
import { isUnderTest } from "../waiting";
import { wholeNumber } from "../whole-number";

export const versionArgument = new Argument("<version>", "its number").argParser(wholeNumber("version"));

/** Gates, approvals, and what serves. */
export function addModelDecisionCommands(models: Command): void {
  for (const [verb, decision, text] of [
    ["approve", "approved", "agree that a version that passed its gates is promoted"],
    ["reject", "rejected", "keep a version out of production for good"],
  ] as const) {
    models
      .command(`${verb} <model>`)
      .addArgument(versionArgument)
      .description(text)
      .option("--reason <text>", "why", "")
      .action(async (name: string, version: number, options: { reason: string }, command: Command) => {
        const { client, json } = contextOf(command);
        const decided = await client.decide(name, version, { decision, reason: options.reason }, randomUUID());
        if (json) printJson(decided);
        else if (decided.approval) {
          process.stdout.write(`${name} version ${version} is ${decided.approval.decision}\n`);
          if (decided.stage === "canary" && (await isUnderTest(client, name, version)))
            process.stdout.write(`its test decides whether it is promoted: ringmaster models traffic decide ${name}\n`);
        } else
          process.stdout.write(
            `${name} version ${version} has ${decided.approvals.length} approvals, and needs more\n`,
          );
      });
  }

  models
    .command("judge <model>")
    .addArgument(versionArgument)
    .description("evaluate a version's gates against the current champion; exit code 3 where it is refused")
    .option("--reason <text>", "why", "")
    .action(async (name: string, version: number, { reason }: { reason: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const request = { params: { name, version }, body: { reason }, idempotencyKey: randomUUID() };
      const { version: judged } = await client.call("judgeModelVersion", request);
      if (verdictWord(judged) === "refused") process.exitCode = exitCodes.refused;
      if (json) {
        printJson(judged);
        return;
      }
      const checks = judged.gate?.checks ?? [];
      process.stdout.write(`${name} version ${version}: gates ${verdictWord(judged)}\n`);
      if (checks.length === 0)
        process.stdout.write(`  no gates are declared; declare some: ringmaster models policy set ${name} FILE\n`);
      for (const check of checks)
        process.stdout.write(`  ${check.passed ? "✔" : check.pending ? "…" : "✘"} ${check.gate}: ${check.evidence}\n`);
    });

  models
    .command("promote <model>")
    .addArgument(versionArgument)
    .description("put an approved version into production")
    .option("--reason <text>", "why", "")
    .action(async (name: string, version: number, { reason }: { reason: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const promoted = await client.promote(name, version, reason, randomUUID());
      if (json) printJson(promoted.version);
      else process.stdout.write(`${name} version ${promoted.version.version} is in production\n`);
    });

  models
    .command("stage <model>")
    .addArgument(versionArgument)
    .addArgument(new Argument("<stage>").choices([...stages]))
    .description("put a version into a stage; production is a promotion")
    .option("--reason <text>", "why", "")
    .action(
      async (
        name: string,
        version: number,
        stage: (typeof stages)[number],
        { reason }: { reason: string },
        command: Command,
      ) => {
        const { client, json } = contextOf(command);
        const request = { params: { name, version }, body: { stage, reason }, idempotencyKey: randomUUID() };
        const changed = await client.call("setModelVersionStage", request);
        if (json) printJson(changed.version);
        else process.stdout.write(`${name} version ${version} is in ${changed.version.stage}\n`);
      },
    );

  models
    .command("rollback <model>")
    .description("back to the version that was in production before")
    .option("--reason <text>", "why", "")
    .option(
      "--from <version>",
      "the version that is to go: refused where another is in production by now",
      wholeNumber("--from"),
    )
    .action(async (name: string, options: { reason: string; from?: number }, command: Command) => {
      const { client, json } = contextOf(command);
      const from = options.from === undefined ? {} : { from: options.from };
      const back = await client.rollback(name, { reason: options.reason, ...from }, randomUUID());
      if (json) printJson(back.version);
      else process.stdout.write(`${name} version ${back.version.version} is in production again\n`);
    });
}
