import { randomUUID } from "node:crypto";
import { Option } from "commander";
import { severities } from "../../core/drift/shapes";
import { InvalidInputError } from "../../core/errors";
import type { CauseRecord as RetrainingCauseRecord } from "../../core/retraining/cause";
import type { RetrainingRule, RuleState as RetrainingRuleState } from "../../core/retraining/rule";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { exitCodes, printJson, printTable } from "../output";
import { type JobOptions, prepareJob, readJobFile, withJobOptions } from "../submission";

interface RuleOptions extends JobOptions {
  readonly job: string;
  readonly name?: string;
  readonly cooldown?: number;
  readonly maxRuns?: number;
  readonly update?: boolean;
}

type Trigger = RetrainingRule["trigger"];

export function addRetrainCommands(program: Command): void {
  const retrain = program.command("retrain").description("manage rules that start a run on an event or a schedule");
  const on = retrain.command("on").description("create a rule; idempotent");

  addRuleOptions(on.command("dataset <dataset>").description("retrain on each new version of a dataset")).action(
    (dataset: string, options: RuleOptions, command: Command) =>
      makeRule({ type: "dataset", dataset }, `on-${dataset}`, options, command),
  );
  addRuleOptions(
    on
      .command("schedule <expression>")
      .description('retrain on a schedule: "rate(1 day)", "cron(0 3 * * ? *)"')
      .option("--time-zone <zone>", "time zone of the schedule, e.g. Europe/Berlin", "UTC"),
  ).action((expression: string, options: RuleOptions & { timeZone: string }, command: Command) =>
    makeRule({ type: "schedule", expression, timeZone: options.timeZone }, undefined, options, command),
  );
  addRuleOptions(
    on
      .command("drift <monitor>")
      .description("retrain when a monitor reports drift")
      .addOption(
        new Option("--severity <severity>", "lowest severity that starts a run")
          .choices([...severities])
          .default("warning"),
      ),
  ).action((monitor: string, options: RuleOptions & { severity: (typeof severities)[number] }, command: Command) =>
    makeRule({ type: "drift", monitor, severity: options.severity }, `on-${monitor}`, options, command),
  );

  retrain
    .command("list")
    .description("list the rules by name")
    .handle(async ({ client, json }) => {
      const { items } = await client.call("listRetrainingRules", {});
      if (json) printJson({ rules: items });
      else printRules(items);
    });

  retrain
    .command("show <rule>")
    .description("show a rule, the events that it received, and the runs that it started")
    .option("--limit <n>", "number of events to show", wholeNumber("--limit"), 20)
    .handle(async ({ client, json }, rule: string, { limit }: { limit: number }) => {
      const [{ state, next }, { items }] = await Promise.all([
        client.call("getRetrainingRule", { params: { rule } }),
        client.call("listRetrainingCauses", { params: { rule }, query: { limit } }),
      ]);
      if (json) return printJson({ ...state, next, causes: items });
      printRules([state]);
      const { createdBy, createdAt, updatedBy, updatedAt } = state.rule;
      process.stdout.write(`created by ${createdBy} at ${createdAt}\n`);
      if (updatedBy !== undefined) process.stdout.write(`changed by ${updatedBy} at ${updatedAt}\n`);
      if (next.length > 0) process.stdout.write(`next: ${next.join(", ")}\n`);
      if (state.lastFailure) process.stdout.write(`last failure: ${state.lastFailure.message}\n`);
      process.stdout.write("\n");
      printTable(
        ["RECEIVED", "TRIGGER", "STATE", "RUN", "REASON"],
        items.map((one) => [
          one.heardAt,
          one.id,
          one.state,
          one.runId ?? "–",
          one.failure?.message ?? one.reason ?? "",
        ]),
      );
    });

  retrain
    .command("run <rule>")
    .description("start a run of the rule now, ignoring its limits; exit code 3 if no run starts")
    .handle(async ({ client, print }, rule: string) => {
      const { cause } = await client.call("runRetrainingRule", { params: { rule }, idempotencyKey: randomUUID() });
      print(cause, describeCause(cause));
      if (cause.state === "failed") process.exitCode = exitCodes.badInput;
      else if (cause.runId === undefined) process.exitCode = exitCodes.refused;
    });

  retrain
    .command("disable <rule>")
    .description("stop the rule from starting runs")
    .option("--reason <text>", "reason to record", "")
    .handle(async ({ client, print }, rule: string, { reason }: { reason: string }) => {
      const answer = await client.call("disableRetrainingRule", { params: { rule }, body: { reason } });
      print(answer, `rule ${rule} disabled`);
    });
  retrain
    .command("enable <rule>")
    .description("let the rule start runs on future events")
    .handle(async ({ client, print }, rule: string) =>
      print(await client.call("enableRetrainingRule", { params: { rule } }), `rule ${rule} enabled`),
    );
  retrain
    .command("delete <rule>")
    .description("delete a rule; its history is kept")
    .handle(async ({ client, print }, rule: string) =>
      print(await client.call("deleteRetrainingRule", { params: { rule } }), `rule ${rule} deleted`),
    );
}

function addRuleOptions(command: Command): Command {
  return withJobOptions(
    command
      .requiredOption("--job <file>", "the job file; its dataset must not name a version")
      .option("--name <name>", "name of the rule")
      .option(
        "--cooldown <minutes>",
        "minimum minutes between the starts of two runs; default: 60 for drift, else 0",
        wholeNumber("--cooldown"),
      )
      .option("--max-runs <n>", "maximum open runs of the rule", wholeNumber("--max-runs"))
      .option("--update", "replace the rule of that name"),
  );
}

async function makeRule(
  trigger: Trigger,
  usualName: string | undefined,
  options: RuleOptions,
  command: Command,
): Promise<void> {
  if (readJobFile(options.job, options.set).dataSource !== undefined) {
    const rule =
      "must be left out of a rule's job, whose runs read versions that exist; push the data with `ringmaster datasets push`";
    throw new InvalidInputError("the rule cannot be made", [{ path: "data_source", rule }]);
  }
  const { job, code } = await prepareJob(options.job, options, () => contextOf(command).client);
  const { client, json } = contextOf(command);
  const name = options.name ?? usualName ?? `${job.experiment}-schedule`;
  const body = { name, trigger, job, code, cooldownMinutes: options.cooldown, maxConcurrentRuns: options.maxRuns };
  const { rule, created } = options.update
    ? { ...(await client.call("replaceRetrainingRule", { params: { rule: name }, body })), created: false }
    : await client.call("createRetrainingRule", { body });
  if (json) printJson({ created, rule });
  else {
    const word = created ? "created" : options.update ? "updated" : "already exists";
    process.stdout.write(`rule ${rule.name} ${word}: ${describeTrigger(rule.trigger)}, ${rule.job.experiment}\n`);
  }
}

function printRules(states: readonly RetrainingRuleState[]): void {
  printTable(
    ["RULE", "TRIGGER", "EXPERIMENT", "STATE", "RUNS", "LAST START", "LAST FAILURE"],
    states.map(({ rule, starts, lastStartedAt, lastFailure }) => [
      rule.name,
      describeTrigger(rule.trigger),
      rule.job.experiment,
      stateOf(rule),
      starts,
      lastStartedAt ?? "–",
      lastFailure ? `${lastFailure.cause}: ${lastFailure.code}` : "–",
    ]),
  );
}

function stateOf({ enabled, deletedAt, pausedReason }: RetrainingRule): string {
  if (deletedAt !== undefined) return "deleted";
  return enabled ? "enabled" : `disabled${pausedReason ? ` (${pausedReason})` : ""}`;
}

function describeTrigger(trigger: Trigger): string {
  switch (trigger.type) {
    case "dataset":
      return `each version of ${trigger.dataset}`;
    case "schedule":
      return `${trigger.expression} ${trigger.timeZone}`;
    case "drift":
      return `drift of ${trigger.monitor}${trigger.severity === "critical" ? ", critical" : ""}`;
  }
}

function describeCause({ state, runId, failure, reason }: RetrainingCauseRecord): string {
  if (state === "unchanged") return reason ?? `nothing was new: ${runId}`;
  if (state === "submitted") return `submitted ${runId}; follow it with: ringmaster runs watch ${runId}`;
  return `no run started: ${failure?.message ?? reason ?? state}`;
}
