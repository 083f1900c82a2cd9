import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { InvalidInputError } from "../../core/errors";
import type { RawRow } from "../../core/features/transform";
import { contextOf } from "../context";
import { formatNumber, printJson, printTable } from "../output";
import { predictRows } from "../predict";
import { addExportCommand } from "./exports";
import { addServingCommands } from "./serving";

export function addModelCommands(program: Command): void {
  const models = program.command("models").description("registered models and their versions");

  addServingCommands(models);

  addExportCommand(models);

  models
    .command("list")
    .description("models and their champions")
    .action(async (_options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const all = await client.models();
      if (json) printJson({ models: all });
      else {
        printTable(
          ["MODEL", "VERSIONS", "PRODUCTION", "UPDATED"],
          all.map((one) => [one.name, one.latestVersion, one.production ?? "–", one.updatedAt]),
        );
      }
    });

  models
    .command("show <model>")
    .description("versions, gates, approvals, history")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const shown = await client.model(name);
      if (json) {
        printJson(shown);
        return;
      }
      printTable(
        ["VERSION", "STAGE", "GATES", "APPROVAL", "METRICS", "WEIGHTS", "RUN"],
        shown.versions.map((version) => [
          version.version,
          version.stage,
          version.gate ? (version.gate.passed ? "passed" : "refused") : "–",
          version.approval ? `${version.approval.decision} by ${version.approval.by}` : "–",
          Object.entries(version.metrics)
            .slice(0, 3)
            .map(([metric, value]) => `${metric} ${formatNumber(value)}`)
            .join(", "),
          version.weightsSha256.slice(0, 12),
          version.runId,
        ]),
      );
      const latest = shown.versions[0];
      for (const check of latest?.gate?.checks ?? []) {
        process.stdout.write(`  ${check.passed ? "✔" : "✘"} ${check.gate}: ${check.evidence}\n`);
      }
      process.stdout.write("\n");
      printTable(
        ["WHEN", "WHAT", "VERSION", "WHO", "WHY"],
        shown.history.map((one) => [one.at, one.action, one.version, one.by, one.reason ?? ""]),
      );
    });

  for (const [verb, decision, text] of [
    ["approve", "approved", "let a version that passed its gates be promoted"],
    ["reject", "rejected", "keep a version out of production for good"],
  ] as const) {
    models
      .command(`${verb} <model> <version>`)
      .description(text)
      .option("--reason <text>", "why", "")
      .action(async (name: string, version: string, options: { reason: string }, command: Command) => {
        const { client, json } = contextOf(command);
        const decided = await client.decide(name, versionOf(version), decision, options.reason);
        if (json) printJson(decided);
        else process.stdout.write(`${name} version ${decided.version} is ${decision}\n`);
      });
  }

  models
    .command("promote <model> <version>")
    .description("put an approved version into production")
    .option("--reason <text>", "why", "")
    .action(async (name: string, version: string, options: { reason: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const promoted = await client.promote(name, versionOf(version), options.reason, randomUUID());
      if (json) printJson(promoted.version);
      else process.stdout.write(`${name} version ${promoted.version.version} is in production\n`);
    });

  models
    .command("rollback <model>")
    .description("back to the version that was in production before")
    .option("--reason <text>", "why", "")
    .option("--from <version>", "the version that is to go: refused where another is in production by now")
    .action(async (name: string, options: { reason: string; from?: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const from = options.from === undefined ? {} : { from: versionOf(options.from) };
      const back = await client.rollback(name, { reason: options.reason, ...from }, randomUUID());
      if (json) printJson(back.version);
      else process.stdout.write(`${name} version ${back.version.version} is in production again\n`);
    });

  models
    .command("resolve <model>")
    .description("what serving loads: version, artifact, digest, schemas")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const resolved = await client.production(name);
      if (json) printJson(resolved);
      else {
        const { artifact: _artifact, ...summary } = resolved;
        for (const [field, value] of Object.entries(summary)) {
          process.stdout.write(`${field.padEnd(13)} ${typeof value === "object" ? JSON.stringify(value) : value}\n`);
        }
      }
    });

  models
    .command("predict <model>")
    .description("load the production version in this process and predict rows of a JSON file")
    .requiredOption("--file <file>", "a JSON list of rows, each an object of raw columns")
    .action(async (name: string, options: { file: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const rows = readRows(options.file);
      const resolved = await client.production(name);
      const predictions = await predictRows(client, resolved.artifact, rows);
      if (json) printJson({ model: name, version: resolved.version, predictions });
      else {
        predictions.forEach((one, i) => {
          const text =
            "value" in one
              ? formatNumber(one.value)
              : `${one.label}  ${formatNumber(Math.max(...one.probabilities.map(({ probability }) => probability)))}`;
          process.stdout.write(`row ${i}: ${text}\n`);
        });
      }
    });
}

function readRows(file: string): readonly RawRow[] {
  const bad = (rule: string, cause?: unknown) =>
    new InvalidInputError("the rows cannot be read", [{ path: "--file", value: file, rule }], cause);
  let rows: unknown;
  try {
    rows = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw bad("must be a JSON file that can be read", cause);
  }
  if (Array.isArray(rows) && rows.length > 0 && rows.every((row) => row !== null && typeof row === "object"))
    return rows;
  throw bad("must hold a list of objects, at least one");
}

function versionOf(text: string): number {
  const version = Number(text);
  if (Number.isInteger(version) && version > 0) return version;
  throw new InvalidInputError("the version cannot be read", [
    { path: "version", value: text, rule: "must be a positive whole number" },
  ]);
}
