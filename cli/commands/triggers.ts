import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as z from "zod";
import { InvalidInputError } from "../../core/errors";
import type { CauseRecord } from "../../core/triggers/cause";
import type { Trigger, TriggerDefinitionInput, TriggerState } from "../../core/triggers/trigger";
import { parseYamlInput } from "../../core/yaml-input";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import { exitCodes, printJson, printTable } from "../output";
import { type JobOptions, prepareJob, readJobFile, withJobOptions } from "../submission";

interface TriggerOptions extends JobOptions {
  readonly file?: string;
  readonly on?: string;
  readonly job?: string;
  readonly name?: string;
  readonly concurrency?: Trigger["concurrency"];
  readonly cooldown?: number;
  readonly timeZone?: string;
  readonly update?: boolean;
}

/** A trigger file: a definition whose `start.job` is the path of a job file. The API checks the rest. */
const triggerFile = z.looseObject({
  name: z.string().optional(),
  on: z.looseObject({ type: z.string() }).optional(),
  start: z.looseObject({ job: z.string().optional(), pipeline: z.string().optional() }).optional(),
});

export function addTriggerCommands(program: Command): void {
  const triggers = program.command("triggers").description("start runs on events and schedules");

  withJobOptions(
    triggers
      .command("create")
      .description("create a trigger from a file, from options, or from both; idempotent")
      .option("-f, --file <file>", "trigger file; its start.job is the path of a job file")
      .option(
        "--on <source>",
        'dataset:NAME, drift:MONITOR[:SEVERITY], model:NAME[:STAGE or ALIAS], pipeline:NAME[:STATUS], webhook, "rate(1 day)", "cron(0 3 * * ? *)", "at(2030-01-31T03:00:00)"',
      )
      .option("--job <file>", "the job file; its dataset must not name a version")
      .option("--name <name>", "name of the trigger")
      .option("--time-zone <zone>", "time zone of a schedule, e.g. Europe/Berlin; default: UTC")
      .option("--concurrency <policy>", "while a run of it is open: queue (default), skip, replace or allow")
      .option(
        "--cooldown <minutes>",
        "minimum minutes between the starts of two runs; default: 60 for drift, else 0",
        wholeNumber("--cooldown"),
      )
      .option("--update", "replace the trigger of that name"),
  ).action((options: TriggerOptions, command: Command) => createTrigger(options, command));

  triggers
    .command("list")
    .description("list the triggers by name")
    .handle(async ({ client, json }) => {
      const { items } = await client.call("listTriggers", {});
      if (json) printJson({ triggers: items });
      else printTriggers(items);
    });

  triggers
    .command("show <trigger>")
    .description("show a trigger, the events that it received, and the runs that it started")
    .option("--limit <n>", "number of events to show", wholeNumber("--limit"), 20)
    .handle(async ({ client, json }, trigger: string, { limit }: { limit: number }) => {
      const [{ state, next }, { items }] = await Promise.all([
        client.call("getTrigger", { params: { trigger } }),
        client.call("listTriggerCauses", { params: { trigger }, query: { limit } }),
      ]);
      if (json) return printJson({ ...state, next, causes: items });
      printTriggers([state]);
      const { createdBy, createdAt, updatedBy, updatedAt } = state.trigger;
      process.stdout.write(`created by ${createdBy} at ${createdAt}\n`);
      if (updatedBy !== undefined) process.stdout.write(`changed by ${updatedBy} at ${updatedAt}\n`);
      if (next.length > 0) process.stdout.write(`next: ${next.join(", ")}\n`);
      if (state.lastFailure) process.stdout.write(`last failure: ${state.lastFailure.message}\n`);
      process.stdout.write("\n");
      printTable(
        ["RECEIVED", "CAUSE", "STATE", "RUN", "REASON"],
        items.map((one) => [
          one.heardAt,
          one.id,
          one.state,
          one.runId ?? "–",
          one.failure?.message ?? one.reason ?? "",
        ]),
      );
    });

  triggers
    .command("fire <trigger>")
    .description("start a run of the trigger now, ignoring its limits; exit code 3 if no run starts")
    .handle(async ({ client, print }, trigger: string) => {
      const { cause } = await client.call("fireTrigger", { params: { trigger }, idempotencyKey: randomUUID() });
      print(cause, describeCause(cause));
      if (cause.state === "failed") process.exitCode = exitCodes.badInput;
      else if (cause.runId === undefined) process.exitCode = exitCodes.refused;
    });

  triggers
    .command("disable <trigger>")
    .description("stop the trigger from starting runs")
    .option("--reason <text>", "reason to record", "")
    .handle(async ({ client, print }, trigger: string, { reason }: { reason: string }) => {
      const answer = await client.call("disableTrigger", { params: { trigger }, body: { reason } });
      print(answer, `trigger ${trigger} disabled`);
    });
  triggers
    .command("enable <trigger>")
    .description("let the trigger start runs on future events")
    .handle(async ({ client, print }, trigger: string) =>
      print(await client.call("enableTrigger", { params: { trigger } }), `trigger ${trigger} enabled`),
    );
  triggers
    .command("delete <trigger>")
    .description("delete a trigger; its history is kept")
    .handle(async ({ client, print }, trigger: string) =>
      print(await client.call("deleteTrigger", { params: { trigger } }), `trigger ${trigger} deleted`),
    );
}

async function createTrigger(options: TriggerOptions, command: Command): Promise<void> {
  const file = options.file === undefined ? {} : readTriggerFile(options.file);
  const on = options.on === undefined ? file.on : sourceOf(options.on, options.timeZone);
  if (on === undefined) throw missing("on", "must be given: use --on, or `on` in the trigger file");
  const { start, usualName } = await startOf(file, options, command);
  const { client, json } = contextOf(command);
  const subject = on["dataset"] ?? on["monitor"] ?? on["model"] ?? on["pipeline"];
  const name = options.name ?? file.name ?? (subject === undefined ? `${usualName}-${on.type}` : `on-${subject}`);
  const { concurrency = file["concurrency"], cooldown = file["cooldownMinutes"] } = options;
  const body = {
    ...{ ...file, name, on, start },
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(cooldown === undefined ? {} : { cooldownMinutes: cooldown }),
  } as TriggerDefinitionInput;
  const { trigger, created, secret } = options.update
    ? {
        ...(await client.call("replaceTrigger", { params: { trigger: name }, body })),
        created: false,
        secret: undefined,
      }
    : await client.call("createTrigger", { body });
  if (json) return printJson({ created, trigger, secret });
  const word = created ? "created" : options.update ? "updated" : "already exists";
  process.stdout.write(`trigger ${trigger.name} ${word}: ${describeSource(trigger.on)}, ${describeStart(trigger)}\n`);
  if (secret !== undefined)
    process.stdout.write(`secret ${secret} (shown once)\npost to /api/v1/hooks/${trigger.team}/${trigger.name}\n`);
}

async function startOf(file: z.output<typeof triggerFile>, options: TriggerOptions, command: Command) {
  const { start = {} } = file;
  if (start.pipeline !== undefined) return { start, usualName: start.pipeline };
  const jobFile = options.job ?? (start.job === undefined ? undefined : resolve(dirname(options.file!), start.job));
  if (jobFile === undefined)
    throw missing("start.job", "must be given: use --job, or `start.job` or `start.pipeline` in the trigger file");
  if (readJobFile(jobFile, options.set).dataSource !== undefined) {
    const rule =
      "must be left out of a trigger's job, whose runs read versions that exist; push the data with `ringmaster datasets push`";
    throw missing("data_source", rule);
  }
  const { job, code } = await prepareJob(jobFile, options, () => contextOf(command).client);
  return { start: { ...start, job, code }, usualName: job.experiment };
}

const missing = (path: string, rule: string) =>
  new InvalidInputError("the trigger cannot be created", [{ path, rule }]);

function readTriggerFile(file: string): z.output<typeof triggerFile> {
  try {
    return parseYamlInput(file, readFileSync(file, "utf8"), triggerFile).value;
  } catch (cause) {
    if (cause instanceof InvalidInputError) throw cause;
    const problem = { path: "--file", value: file, rule: "must be a readable file" };
    throw new InvalidInputError("the trigger file cannot be read", [problem], cause);
  }
}

/** Parses `--on`. The API checks the names. */
function sourceOf(
  text: string,
  timeZone: string | undefined,
): { readonly type: string; readonly [key: string]: unknown } {
  if (text.includes("("))
    return { type: "schedule", expression: text, ...(timeZone === undefined ? {} : { timeZone }) };
  const [type = "", subject, detail] = text.split(":");
  const [key, more] =
    { dataset: ["dataset"], drift: ["monitor", "severity"], model: ["model", "to"], pipeline: ["pipeline", "status"] }[
      type
    ] ?? [];
  return {
    type,
    ...(key === undefined || subject === undefined ? {} : { [key]: subject }),
    ...(more === undefined || detail === undefined ? {} : { [more]: detail }),
  };
}

function printTriggers(states: readonly TriggerState[]): void {
  printTable(
    ["TRIGGER", "ON", "STARTS", "STATE", "RUNS", "LAST START", "LAST FAILURE"],
    states.map(({ trigger, starts, lastStartedAt, lastFailure }) => [
      trigger.name,
      describeSource(trigger.on),
      describeStart(trigger),
      stateOf(trigger),
      starts,
      lastStartedAt ?? "–",
      lastFailure ? `${lastFailure.cause}: ${lastFailure.code}` : "–",
    ]),
  );
}

function stateOf({ enabled, deletedAt, pausedReason }: Trigger): string {
  if (deletedAt !== undefined) return "deleted";
  return enabled ? "enabled" : `disabled${pausedReason ? ` (${pausedReason})` : ""}`;
}

function describeSource(on: Trigger["on"]): string {
  switch (on.type) {
    case "dataset":
      return `each version of ${on.dataset}`;
    case "schedule":
      return `${on.expression} ${on.timeZone}`;
    case "drift":
      return `drift of ${on.monitor}${on.severity === "critical" ? ", critical" : ""}`;
    case "model":
      return `${on.model} ${on.to}`;
    case "pipeline":
      return `${on.pipeline} ${on.status}`;
    case "webhook":
      return "webhook";
  }
}

const describeStart = ({ start }: Trigger): string => start.job?.experiment ?? start.pipeline ?? "";

function describeCause({ state, runId, failure, reason }: CauseRecord): string {
  if (state === "unchanged") return reason ?? `nothing was new: ${runId}`;
  if (state === "submitted") return `submitted ${runId}; follow it with: ringmaster runs watch ${runId}`;
  return `no run started: ${failure?.message ?? reason ?? state}`;
}
