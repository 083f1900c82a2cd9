import { account, region } from "../account";
import type { Clock } from "../clock";
import { isObject, parseJson } from "../json";
import { operationNamed, ServiceError, takePage, validation } from "../wire";
import type { Bus, BusEvent } from "./bus";
import { parsePattern } from "./pattern";
import { noRule, type Rule, type Rules, ruleArn, type Target } from "./rules";
import { type ParseSchedule, targetKind } from "./target";

/** EventBridge's limit on all entries of a request together, in bytes. */
const sizeLimit = 1024 * 1024;
const countLimit = 10;

interface Refusal {
  readonly ErrorCode: string;
  readonly ErrorMessage: string;
}

function putEvents(bus: Bus, entries: unknown): object {
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > countLimit) {
    throw validation(`Entries must be a list of 1–${countLimit} events.`);
  }
  const size = Buffer.byteLength(JSON.stringify(entries));
  if (size > sizeLimit)
    throw validation(`Total size of the entries in the request is ${size} bytes, over the limit of ${sizeLimit}.`);
  const results = entries.map((entry) => accept(bus, isObject(entry) ? entry : {}));
  const events = results.filter((result): result is BusEvent => "id" in result);
  if (events.length > 0) bus.put(events);
  return {
    FailedEntryCount: results.length - events.length,
    Entries: results.map((result) => ("id" in result ? { EventId: result.id } : result)),
  };
}

function accept(bus: Bus, entry: Record<string, unknown>): BusEvent | Refusal {
  const { Source, DetailType, Detail, Time, Resources = [], EventBusName = "default" } = entry;
  for (const [name, value] of Object.entries({ Source, DetailType, Detail })) {
    if (typeof value !== "string" || value === "") {
      return {
        ErrorCode: "InvalidArgument",
        ErrorMessage: `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
      };
    }
  }
  if (!isDefaultBus(EventBusName)) {
    return {
      ErrorCode: "ResourceNotFoundException",
      ErrorMessage: `Event bus ${EventBusName} does not exist. There is the default bus only.`,
    };
  }
  if (/^aws\./i.test(Source as string)) {
    return {
      ErrorCode: "NotAuthorizedForSourceException",
      ErrorMessage: `Not authorized for the source '${Source}': the prefix 'aws.' is reserved.`,
    };
  }
  const detail = parseDetail(Detail as string);
  if (!detail)
    return { ErrorCode: "MalformedDetail", ErrorMessage: "Detail is malformed: it must be the text of a JSON object." };
  const emitted = {
    source: Source as string,
    detailType: DetailType as string,
    resources: Resources as string[],
    detail,
  };
  // In JSON 1.1 a time is a number of seconds.
  return bus.stamp(emitted, typeof Time === "number" ? Time * 1000 : undefined);
}

function parseDetail(text: string): object | undefined {
  try {
    const detail: unknown = parseJson(text);
    return isObject(detail) ? detail : undefined;
  } catch {
    return undefined;
  }
}

function isDefaultBus(name: unknown): boolean {
  return name === undefined || name === "default" || name === defaultBusArn;
}

const defaultBusArn = `arn:aws:events:${region}:${account}:event-bus/default`;

export interface EventsBackend {
  readonly bus: Bus;
  readonly rules: Rules;
  readonly clock: Clock;
  readonly parseSchedule: ParseSchedule;
}

type Body = Readonly<Record<string, unknown>>;
type Operation = (backend: EventsBackend, body: Body) => object | Promise<object>;

const maxTargets = 5;

const targetFields: readonly string[] = ["Id", "Arn", "RoleArn", "Input", "RetryPolicy", "DeadLetterConfig"];

export const operations: Readonly<Record<string, Operation>> = {
  PutEvents: ({ bus }, body) => putEvents(bus, body["Entries"]),

  async PutRule({ bus, rules, clock, parseSchedule }, body) {
    const { Name, EventPattern, ScheduleExpression, State = "ENABLED", Description, RoleArn } = body as unknown as Rule;
    checkName(Name);
    if (EventPattern === undefined && ScheduleExpression === undefined) {
      throw validation("Parameter(s) EventPattern or ScheduleExpression must be specified.");
    }
    if (State !== "ENABLED" && State !== "DISABLED")
      throw validation(`State is '${State}', but must be ENABLED or DISABLED.`);
    if (EventPattern !== undefined) parsePattern(EventPattern);
    if (ScheduleExpression !== undefined) checkSchedule(ScheduleExpression, parseSchedule);
    const old = rules.get(Name);
    const since = old && old.ScheduleExpression === ScheduleExpression ? old.since : clock.now();
    const targets = old?.targets ?? [];
    await rules.put({ Name, EventPattern, ScheduleExpression, State, Description, RoleArn, targets, since });
    await bus.schedule(Name);
    return { RuleArn: ruleArn(Name) };
  },
  ListRules({ rules }, body) {
    const prefix = (body["NamePrefix"] as string | undefined) ?? "";
    const matching = rules.all().filter(({ Name }) => Name.startsWith(prefix));
    const { page, NextToken } = takePage(matching, body["NextToken"], body["Limit"]);
    return { Rules: page.map(describe), NextToken };
  },

  async PutTargets({ rules }, body) {
    const rule = find(rules, body["Rule"]);
    const added = body["Targets"];
    if (!Array.isArray(added) || added.length === 0) throw validation("Targets must be a list of at least one target.");
    for (const target of added) checkTarget(target);
    const targets = new Map([...rule.targets, ...(added as Target[])].map((target) => [target.Id, target]));
    if (targets.size > maxTargets) {
      throw new ServiceError(
        "LimitExceededException",
        400,
        `The requested resource exceeds the maximum number allowed: ${maxTargets} targets a rule.`,
      );
    }
    await rules.put({ ...rule, targets: [...targets.values()] });
    return { FailedEntryCount: 0, FailedEntries: [] };
  },
};

/** Runs an operation by its name. Every operation refuses a bus other than the default one. */
export async function runOperation(backend: EventsBackend, name: string, body: Body): Promise<object> {
  const operation = operationNamed(operations, name, "EventBridge");
  if (!isDefaultBus(body["EventBusName"])) {
    throw new ServiceError(
      "ResourceNotFoundException",
      400,
      `Event bus ${body["EventBusName"]} does not exist. There is the default bus only.`,
    );
  }
  return operation(backend, body);
}

function find(rules: Rules, name: unknown): Rule {
  const rule = typeof name === "string" ? rules.get(name) : undefined;
  if (!rule) throw noRule(name);
  return rule;
}

function describe({ targets: _, since: __, ...rule }: Rule): object {
  return { ...rule, Arn: ruleArn(rule.Name), EventBusName: "default" };
}

function checkName(name: unknown): void {
  if (typeof name !== "string" || !/^[.\-_A-Za-z0-9]{1,64}$/.test(name)) {
    throw validation(`Name is ${JSON.stringify(name)}, but must be 1–64 letters, digits, '.', '-' or '_'.`);
  }
}

function checkSchedule(text: string, parseSchedule: ParseSchedule): void {
  try {
    if (parseSchedule(text).kind !== "at") return;
  } catch (error) {
    throw validation(`Parameter ScheduleExpression is not valid. ${(error as Error).message}`);
  }
  throw validation(
    "Parameter ScheduleExpression is not valid. A rule takes rate(…) or cron(…); at(…) is the Scheduler's.",
  );
}

function checkTarget(target: unknown): void {
  if (!isObject(target) || typeof target["Id"] !== "string" || typeof target["Arn"] !== "string") {
    throw validation("A target must have an Id and an Arn.");
  }
  const { Id, Arn, Input } = target as unknown as Target;
  const unknown = Object.keys(target).find((field) => !targetFields.includes(field));
  if (unknown !== undefined) {
    throw validation(
      `Target ${Id}: ${unknown} is not implemented by the embedded EventBridge, which implements ${targetFields.join(", ")}.`,
    );
  }
  if (!targetKind(Arn))
    throw validation(
      `Target ${Id} is ${Arn}: the embedded EventBridge delivers to Lambda functions and state machines only.`,
    );
  if (Input !== undefined) {
    try {
      parseJson(Input);
    } catch {
      throw validation(`Target ${Id}: JSON syntax error in its Input.`);
    }
  }
}
