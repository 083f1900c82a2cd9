import { randomUUID } from "node:crypto";
import { Argument } from "commander";
import type { ApiClient } from "../../client/api-client";
import type { Answer } from "../../client/operations";
import { type GateVerdict, verdictWord } from "../../core/registry/gates/verdict";
import { stages } from "../../core/registry/model";
import { type Command, wholeNumber } from "../command";
import { exitCodes, printJson } from "../output";
import { nextLines } from "../waiting";

const pollMs = 500;

type ModelVersion = Answer<"getModelVersion">["version"];

export const versionArgument = new Argument("<version>", "version number").argParser(wholeNumber("version"));

export function checkLine({ passed, pending, gate, evidence }: GateVerdict["checks"][number]): string {
  return `${passed ? "✔" : pending ? "…" : "✘"} ${gate}: ${evidence}`;
}

function printLines(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

function printDecided({ model, version, approvals, approval, next }: ModelVersion, decision: string): void {
  const recorded =
    approval || decision === "rejected"
      ? decision
      : `has ${approvals.length} approval${approvals.length === 1 ? "" : "s"}`;
  printLines([`${model} version ${version} ${recorded}`, ...nextLines(next)]);
}

interface DecisionOptions extends Options {
  readonly wait?: boolean;
}

/** Waits while the platform evaluates or promotes a version by itself. */
async function settled(client: ApiClient, decided: ModelVersion): Promise<ModelVersion> {
  let version = decided;
  while (version.next?.some(({ kind }) => kind === "run")) {
    await new Promise((wait) => setTimeout(wait, pollMs));
    version = await client.modelVersion(version.model, version.version);
  }
  return version;
}

interface Options {
  readonly reason: string;
}

export function addModelDecisionCommands(models: Command): void {
  const ofVersion = (verb: string, about: string) =>
    models
      .command(`${verb} <model>`)
      .addArgument(versionArgument)
      .description(about)
      .option("--reason <text>", "reason to record", "");

  for (const [verb, decision, text] of [
    ["approve", "approved", "approve the promotion of a version that passed its gates"],
    ["reject", "rejected", "reject a version permanently"],
  ] as const) {
    ofVersion(verb, text)
      .option("--wait", "wait until the version is in production, or needs something else")
      .handle(async ({ client, json }, name: string, version: number, options: DecisionOptions) => {
        const { reason, wait } = options;
        const decided = await client.decide(name, version, { decision, reason }, randomUUID());
        if (!json) printDecided(decided, decision);
        const after = wait ? await settled(client, decided) : decided;
        if (wait && after.approval?.decision === "rejected") process.exitCode = exitCodes.notPromoted;
        if (json) printJson(after);
        else if (wait) printLines(nextLines(after.next));
      });
  }

  ofVersion("request-approval", "request the approval of a version again, because the last request has expired").handle(
    async ({ client, json }, name: string, version: number, { reason }: Options) => {
      const request = { params: { name, version }, body: { reason }, idempotencyKey: randomUUID() };
      const { version: waiting } = await client.call("requestModelApproval", request);
      if (json) printJson(waiting);
      else printLines([`the approval of ${name} version ${version} is requested`, ...nextLines(waiting.next)]);
    },
  );

  ofVersion(
    "judge",
    "evaluate a version's gates against the current champion; exit code 3 if a gate refuses it",
  ).handle(async ({ client, json }, name: string, version: number, { reason }: Options) => {
    const request = { params: { name, version }, body: { reason }, idempotencyKey: randomUUID() };
    const { version: judged } = await client.call("judgeModelVersion", request);
    if (verdictWord(judged) === "refused") process.exitCode = exitCodes.refused;
    if (json) return printJson(judged);
    const checks = judged.gate?.checks ?? [];
    process.stdout.write(`${name} version ${version}: gates ${verdictWord(judged)}\n`);
    if (checks.length === 0)
      process.stdout.write(`  no gates are declared; declare gates with: ringmaster models policy set ${name} FILE\n`);
    for (const check of checks) process.stdout.write(`  ${checkLine(check)}\n`);
    printLines(nextLines(judged.next));
  });

  ofVersion("promote", "promote an approved version to production").handle(
    async ({ client, print }, name: string, version: number, { reason }: Options) => {
      const promoted = await client.promote(name, version, reason, randomUUID());
      print(promoted.version, `${name} version ${promoted.version.version} is in production`);
    },
  );

  ofVersion("stage", "move a version to none, staging, canary or archived (to production: models promote)")
    .addArgument(new Argument("<stage>").choices([...stages]))
    .handle(
      async ({ client, print }, name: string, version: number, stage: (typeof stages)[number], { reason }: Options) => {
        const request = { params: { name, version }, body: { stage, reason }, idempotencyKey: randomUUID() };
        const changed = await client.call("setModelVersionStage", request);
        print(changed.version, `${name} version ${version} is in stage ${changed.version.stage}`);
      },
    );

  models
    .command("rollback <model>")
    .description("roll back to the previous production version")
    .option("--reason <text>", "reason to record", "")
    .option(
      "--from <version>",
      "the version to replace; refused if another version is in production",
      wholeNumber("--from"),
    )
    .handle(async ({ client, print }, name: string, options: { reason: string; from?: number }) => {
      const back = await client.rollback(name, options, randomUUID());
      print(back.version, `${name} version ${back.version.version} is in production again`);
    });
}
