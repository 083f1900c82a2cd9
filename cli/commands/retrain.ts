import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import type { RetrainingCauseRecord, RetrainingRule, RetrainingRuleState } from "../../client/generated/schemas";
import { severities } from "../../core/retraining/rule";
import { contextOf } from "../context";
import { exitCodes, printJson, printTable } from "../output";
import { type JobOptions, prepareJob, withJobOptions } from "../submission";
import { wholeNumber } from "../whole-number";

interface RuleOptions extends JobOptions {
  readonly job: string;
  readonly name?: string;
  readonly cooldown?: number;
  readonly maxRuns?: number;
  readonly update?: boolean;
}

type Trigger = RetrainingRule["trigger"];

export function addRetrainCommands(program: Command): void {
  const retrain = program.command("retrain").description("rules that start a run when something happens");
  const on = retrain.command("on").description("make a rule; the same again is the same rule");

  addRuleOptions(on.command("dataset <dataset>").description("retrain on each new version of a dataset")).action(
    (dataset: string, options: RuleOptions, command: Command) =>
      makeRule({ type: "dataset", dataset }, `on-${dataset}`, options, command),
  );
  addRuleOptions(
    on
      .command("schedule <expression>")
      .description('retrain by the clock: "rate(1 day)", "cron(0 3 * * ? *)"')
      .option("--time-zone <zone>", "whose clock, e.g. Europe/Berlin", "UTC"),
  ).action((expression: string, options: RuleOptions & { timeZone: string }, command: Command) =>
    makeRule({ type: "schedule", expression, timeZone: options.timeZone }, undefined, options, command),
  );
  addRuleOptions(
    on
      .command("drift <monitor>")
      .description("retrain where a monitor finds drift")
      .addOption(new Option("--severity <severity>", "at least").choices([...severities]).default("warning")),
  ).action((monitor: string, options: RuleOptions & { severity: (typeof severities)[number] }, command: Command) =>
    makeRule({ type: "drift", monitor, severity: options.severity }, `on-${monitor}`, options, command),
  );

  retrain
    .command("list")
    .description("rules by name")
    .action(async (_options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const { items } = await client.call("listRetrainingRules", {});
      if (json) printJson({ rules: items });
      else printRules(items);
    });

  retrain
    .command("show <rule>")
    .description("what it says, what it heard of, what became of it")
    .option("--limit <n>", "how much of its history", wholeNumber("--limit"), 20)
    .action(async (rule: string, { limit }: { limit: number }, command: Command) => {
      const { client, json } = contextOf(command);
      const [{ state, next }, { items }] = await Promise.all([
        client.call("getRetrainingRule", { params: { rule } }),
        client.call("listRetrainingCauses", { params: { rule }, query: { limit } }),
      ]);
      if (json) {
        printJson({ ...state, next, causes: items });
        return;
      }
      printRules([state]);
      if (next.length > 0) process.stdout.write(`next: ${next.join(", ")}\n`);
      if (state.lastFailure) process.stdout.write(`last failure: ${state.lastFailure.message}\n`);
      process.stdout.write("\n");
      printTable(
        ["HEARD OF", "CAUSE", "STATE", "RUN", "WHY"],
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
    .description("retrain by it now, whatever its limits")
    .action(async (rule: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const { cause } = await client.call("runRetrainingRule", { params: { rule }, idempotencyKey: randomUUID() });
      if (json) printJson(cause);
      else process.stdout.write(`${describeCause(cause)}\n`);
      if (cause.state === "failed") process.exitCode = exitCodes.badInput;
    });

  retrain
    .command("disable <rule>")
    .description("let it skip what happens")
    .option("--reason <text>", "why", "")
    .action(async (rule: string, { reason }: { reason: string }, command: Command) => {
      const { client } = contextOf(command);
      report(
        (await client.call("disableRetrainingRule", { params: { rule }, body: { reason } })).rule,
        "disabled",
        command,
      );
    });
  retrain
    .command("enable <rule>")
    .description("let it act on what happens from now on")
    .action(async (rule: string, _options: unknown, command: Command) => {
      const { client } = contextOf(command);
      report((await client.call("enableRetrainingRule", { params: { rule } })).rule, "enabled", command);
    });
  retrain
    .command("delete <rule>")
    .description("end it; its history stays")
    .action(async (rule: string, _options: unknown, command: Command) => {
      const { client } = contextOf(command);
      report((await client.call("deleteRetrainingRule", { params: { rule } })).rule, "deleted", command);
    });
}

function addRuleOptions(command: Command): Command {
  return withJobOptions(
    command
      .requiredOption("--job <file>", "the job file; its dataset is without a version")
      .option("--name <name>", "the rule's name")
      .option("--cooldown <minutes>", "between the starts of two runs", wholeNumber("--cooldown"))
      .option("--max-runs <n>", "of the rule's runs open at a time", wholeNumber("--max-runs"))
      .option("--update", "change the rule of that name"),
  );
}

async function makeRule(
  trigger: Trigger,
  usualName: string | undefined,
  options: RuleOptions,
  command: Command,
): Promise<void> {
  const { job, code } = await prepareJob(options.job, options, () => contextOf(command).client);
  const { client, json } = contextOf(command);
  const name = options.name ?? usualName ?? `${job.experiment}-schedule`;
  const body = { name, trigger, job, code, cooldownMinutes: options.cooldown, maxConcurrentRuns: options.maxRuns };
  const { rule, created } = options.update
    ? { ...(await client.call("replaceRetrainingRule", { params: { rule: name }, body })), created: false }
    : await client.call("createRetrainingRule", { body });
  if (json) printJson({ created, rule });
  else {
    const word = created ? "made" : options.update ? "changed" : "there already";
    process.stdout.write(`rule ${rule.name} is ${word}: ${describeTrigger(rule.trigger)}, ${rule.job.experiment}\n`);
  }
}

function report(rule: RetrainingRule, what: string, command: Command): void {
  if (contextOf(command).json) printJson({ rule });
  else process.stdout.write(`rule ${rule.name} is ${what}\n`);
}

function printRules(states: readonly RetrainingRuleState[]): void {
  printTable(
    ["RULE", "ON", "EXPERIMENT", "STATE", "RUNS", "LAST START", "LAST FAILURE"],
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
  if (state === "submitted") return `${runId} is submitted; follow it with: ringmaster runs watch ${runId}`;
  return `no run: ${failure?.message ?? reason ?? state}`;
}
