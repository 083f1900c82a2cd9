import type { ApiClient } from "../../client/api-client";
import { neededViews } from "../../client/complete-rows";
import type { Answer } from "../../client/operations";
import { typeText } from "../../core/datasets/identity";
import { isNullable } from "../../core/datasets/rules";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import type { HistoryEntry } from "../../core/registry/model";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { formatNumber, printJson, printTable } from "../output";
import { awaitedSteps, nextLines } from "../waiting";
import { addExportCommand } from "./exports";
import { addModelChangeCommands } from "./model-changes";
import { addModelDecisionCommands, checkLine } from "./model-decisions";
import { addModelDriftCommand } from "./model-drift";
import { addModelGateCommands } from "./model-gates";
import { addModelPolicyCommands } from "./model-policies";
import { addPredictCommand } from "./predictions";
import { addInferencesCommand, addServingCommands } from "./serving";

type ModelVersion = Answer<"getModelVersion">["version"];
type ResolvedModel = Answer<"getProductionModel">;

export function addModelCommands(program: Command): void {
  const models = program
    .command("models")
    .description("list, evaluate, approve and serve registered models and their versions");

  addExportCommand(models);

  models
    .command("list")
    .description("list models, with the version in production")
    .option("--waiting", "list the versions that wait for an approval, a check or a canary's test")
    .handle(async ({ client, json }, { waiting }: { waiting?: boolean }) => {
      const all = await client.models();
      if (waiting) printWaiting(await waitingVersions(client, all), json);
      else if (json) printJson({ models: all });
      else {
        printTable(
          ["MODEL", "VERSIONS", "PRODUCTION", "ALIASES", "UPDATED"],
          all.map((one) => [
            one.name,
            one.latestVersion,
            one.production ?? "–",
            Object.entries(one.aliases)
              .map(([alias, version]) => `${alias} ${version}`)
              .join(", "),
            one.updatedAt,
          ]),
        );
      }
    });

  models
    .command("show <model>")
    .description("show versions, gates, approvals, next steps and history")
    .handle(async ({ client, json }, name: string) => {
      const shown = await client.model(name);
      if (json) return printJson(shown);
      const { description, tags, policy } = shown.model;
      if (description) process.stdout.write(`${description}\n`);
      for (const [key, value] of Object.entries(tags)) process.stdout.write(`  ${key}: ${value}\n`);
      if (policy) process.stdout.write(`policy of revision ${policy.revision}: ringmaster models policy get ${name}\n`);
      printVersions(shown.versions);
      const latest = shown.versions[0];
      for (const check of latest?.gate?.checks ?? []) process.stdout.write(`  ${checkLine(check)}\n`);
      for (const version of shown.versions) {
        if (!version.next || version.next.every(({ kind }) => kind === "none")) continue;
        process.stdout.write(`  version ${version.version}: ${nextLines(version.next).join("; ")}\n`);
      }
      process.stdout.write("\n");
      printHistory(shown.history);
      if (shown.historyNextToken) process.stdout.write(`  … older entries: ringmaster models history ${name} --all\n`);
    });

  models
    .command("versions <model>")
    .description("list versions, newest first")
    .handle(async ({ client, json }, name: string) => {
      const { versions } = await client.model(name);
      if (json) printJson({ versions });
      else printVersions(versions);
    });

  models
    .command("history <model>")
    .description("list the changes with actor, time and reason, oldest first")
    .option("--limit <n>", "number of changes to show, the newest ones", wholeNumber("--limit"), 100)
    .option("--all", "show every change")
    .handle(async ({ client, json }, name: string, options: { limit: number; all?: boolean }) => {
      const most = options.all ? Number.POSITIVE_INFINITY : options.limit;
      const entries: HistoryEntry[] = [];
      const query = { limit: Math.min(200, most) };
      for await (const entry of client.pages("listModelHistory", { params: { name }, query })) {
        // One more entry shows that there are more.
        if (entries.push(entry) > most) break;
      }
      const history = entries.slice(0, most).reverse();
      if (json) printJson({ history });
      else {
        if (entries.length > most) process.stdout.write(`older entries: ringmaster models history ${name} --all\n`);
        printHistory(history);
      }
    });

  models
    .command("resolve <model>")
    .alias("production")
    .description("show what a serving process loads: version, artifact, digest, schemas")
    .action(async (name: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const resolved = await client.production(name);
      // A client logs the metrics of a version from elsewhere. Without them, the command prints what serving loads.
      const { loggedMetrics = {} } =
        Object.keys(resolved.metrics).length === 0
          ? await client.modelVersion(name, resolved.version).catch(() => nothing)
          : nothing;
      const metrics = { ...loggedMetrics, ...resolved.metrics };
      const views = resolved.artifact === undefined ? [] : await shownViews(client, resolved.artifact);
      const more = { metrics, ...(views.length > 0 && { views }) };
      if (json) printJson({ ...resolved, ...more });
      else printResolved({ ...resolved, ...more });
    });

  addPredictCommand(models);
  addModelDecisionCommands(models);
  addModelChangeCommands(models);
  addModelPolicyCommands(models);
  addModelGateCommands(models);
  addServingCommands(models);
  addModelDriftCommand(models);
  addInferencesCommand(models);
}

function printVersions(versions: readonly ModelVersion[]): void {
  printTable(
    ["VERSION", "SEMVER", "STAGE", "GATES", "APPROVAL", "METRICS", "WEIGHTS", "MADE BY"],
    versions.map((version) => [
      version.version,
      version.semver ?? "–",
      version.stage,
      version.gate ? (version.gate.passed ? "passed" : "refused") : "–",
      approvalOf(version),
      metricsOf(version),
      version.weightsSha256?.slice(0, 12) ?? "–",
      version.runId ?? version.source ?? "–",
    ]),
  );
}

/** Returns the version's own metrics, else its logged metrics with a note. */
function metricsOf({ metrics, loggedMetrics = {} }: Pick<ModelVersion, "metrics" | "loggedMetrics">): string {
  const hasMetrics = Object.keys(metrics).length > 0;
  const shown = Object.entries(hasMetrics ? metrics : loggedMetrics)
    .slice(0, 3)
    .map(([metric, value]) => `${metric} ${typeof value === "number" ? formatNumber(value) : value}`)
    .join(", ");
  return hasMetrics || shown === "" ? shown : `${shown} (logged)`;
}

function approvalOf({ approval, approvals, approvalsWithdrawn }: ModelVersion): string {
  if (approval) return `${approval.decision} by ${approval.by}`;
  const approved = approvals.length === 0 ? "–" : `${approvals.length} given`;
  return approvalsWithdrawn ? `${approved} (withdrawn: ${approvalsWithdrawn.after})` : approved;
}

function printHistory(history: readonly HistoryEntry[]): void {
  printTable(
    ["TIME", "ACTION", "VERSION", "BY", "REASON"],
    history.map((one) => [
      one.at,
      actionOf(one),
      one.version ?? "–",
      one.by,
      [one.reason, one.approvalsWithdrawn].filter(Boolean).join("; "),
    ]),
  );
}

/** Formats `gates passed: none → staging`, `staged: staging → canary`, `tagged owner`. */
function actionOf({ action, subject, from, to }: HistoryEntry): string {
  const what = subject === undefined ? (actionNames[action] ?? action) : `${action} ${subject}`;
  if (action === "gated" && from && to) return `gates ${to === "none" ? "not passed" : "passed"}: ${from} → ${to}`;
  return from && to ? `${what}: ${from} → ${to}` : what;
}

const actionNames: Partial<Record<HistoryEntry["action"], string>> = {
  gated: "gates evaluated",
  "approval-requested": "approval requested",
  "rolled-back": "rolled back",
  "policy-set": "policy set",
  "policy-proposed": "policy proposed",
  "traffic-set": "traffic set",
};

const nothing: Pick<ModelVersion, "loggedMetrics"> = {};

/** Returns the feature views that the model reads, with the columns that identify an entity of each. */
async function shownViews(client: ApiClient, artifact: ModelArtifact) {
  // Serving can load the model without them.
  const views = await neededViews(client, artifact).catch(() => []);
  return views.map(({ entities, columns, ...view }) => ({
    ...view,
    entities: entities.map(({ name }) => name),
    columns: columns.map(({ column }) => column.name),
  }));
}

function printResolved({
  artifact: _,
  inputSchema,
  signature,
  ...summary
}: Omit<ResolvedModel, "metrics"> & Readonly<Record<string, unknown>>): void {
  // The signature of a model of the platform is its input schema in MLflow's words.
  const fields = inputSchema === undefined ? { ...summary, signature } : summary;
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    process.stdout.write(`${field.padEnd(13)} ${typeof value === "object" ? JSON.stringify(value) : value}\n`);
  }
  if (inputSchema === undefined) return;
  process.stdout.write("\n");
  printTable(
    ["COLUMN", "TYPE", "NULLABLE", "FROM"],
    inputSchema.map((column) => [
      column.name,
      typeText(column),
      isNullable(column) ? "yes" : "no",
      column.from === undefined ? "the row" : `${column.from.view}, ${column.from.feature}`,
    ]),
  );
}

async function waitingVersions(client: ApiClient, models: readonly { readonly name: string }[]) {
  const waiting: ModelVersion[] = [];
  for (const { name } of models) {
    const { versions } = await client.model(name);
    waiting.push(
      ...versions.filter((version) => version.approvalRequest !== undefined && awaitedSteps(version).length > 0),
    );
  }
  return waiting;
}

function printWaiting(versions: readonly ModelVersion[], json: boolean): void {
  if (json) printJson({ versions });
  else if (versions.length === 0) process.stdout.write("no version waits\n");
  else {
    printTable(
      ["MODEL", "VERSION", "RUN", "EXPIRES", "NEXT"],
      versions.map((version) => [
        version.model,
        version.version,
        version.runId ?? "–",
        version.approvalRequest?.expiresAt ?? "–",
        awaitedSteps(version)[0]?.command ?? "–",
      ]),
    );
  }
}
