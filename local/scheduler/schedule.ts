import * as z from "zod";
import { account, region } from "../account";
import { type ParseSchedule, type Timetable, targetKind } from "../events/target";
import { isObject } from "../json";
import { ServiceError, validation } from "../wire";

const name = z.string().regex(/^[0-9a-zA-Z\-_.]{1,64}$/, "must be 1–64 letters, digits, '-', '_' or '.'");

const definition = z.object({
  GroupName: name.default("default"),
  ScheduleExpression: z.string().min(1).max(256),
  ScheduleExpressionTimezone: z.string().refine(isTimeZone, "must be a time zone of the IANA database").default("UTC"),
  StartDate: z.number().optional(),
  EndDate: z.number().optional(),
  State: z.enum(["ENABLED", "DISABLED"]).default("ENABLED"),
  Description: z.string().max(512).optional(),
  FlexibleTimeWindow: z.object({
    Mode: z.enum(["OFF", "FLEXIBLE"]),
    MaximumWindowInMinutes: z.number().int().min(1).max(1440).optional(),
  }),
  ActionAfterCompletion: z.enum(["NONE", "DELETE"]).default("NONE"),
  Target: z.looseObject({
    Arn: z
      .string()
      .refine(
        (arn) => targetKind(arn) !== undefined,
        "must be the ARN of a Lambda function or a state machine, the targets of the embedded Scheduler",
      ),
    RoleArn: z.string().min(1),
    Input: z.string().min(1).optional(),
    RetryPolicy: z
      .object({
        MaximumRetryAttempts: z.number().int().min(0).max(185).optional(),
        MaximumEventAgeInSeconds: z.number().int().min(60).max(86_400).optional(),
      })
      .optional(),
  }),
});

export type Definition = z.infer<typeof definition>;

export interface Schedule extends Definition {
  readonly Name: string;
  /** The creation time in seconds since the epoch. */
  readonly CreationDate: number;
  readonly LastModificationDate: number;
  /** The token of the request that created it. Another request with the same token creates nothing. */
  readonly token?: string;
  /** The time of the next firing in milliseconds since the epoch. Undefined if it never fires again. */
  readonly dueAt?: number;
}

export function parseDefinition(body: Readonly<Record<string, unknown>>, parseSchedule: ParseSchedule): Definition {
  const result = definition.safeParse(body);
  if (!result.success) {
    const { path, message } = result.error.issues[0]!;
    const value = path.reduce<unknown>((at, key) => (isObject(at) ? at[String(key)] : undefined), body);
    throw validation(`${path.join(".")} is ${JSON.stringify(value) ?? "missing"}: ${message}.`);
  }
  const { data } = result;
  timetableOf(data.ScheduleExpression, parseSchedule);
  if (data.StartDate !== undefined && data.EndDate !== undefined && data.EndDate <= data.StartDate) {
    throw validation("EndDate must be after StartDate.");
  }
  if (data.FlexibleTimeWindow.Mode === "FLEXIBLE" && data.FlexibleTimeWindow.MaximumWindowInMinutes === undefined) {
    throw validation("FlexibleTimeWindow.MaximumWindowInMinutes must be given in the mode FLEXIBLE.");
  }
  return data;
}

export function parseName(value: string): string {
  if (name.safeParse(value).success) return value;
  throw validation(`Name is '${value}', but must be 1–64 letters, digits, '-', '_' or '.'.`);
}

function timetableOf(text: string, parseSchedule: ParseSchedule): Timetable {
  try {
    return parseSchedule(text);
  } catch (error) {
    throw validation(`Invalid Schedule Expression: ${(error as Error).message}`);
  }
}

function isTimeZone(timeZone: string): boolean {
  try {
    return Intl.DateTimeFormat("en-US", { timeZone }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Returns the schedule's next firing after a time, in milliseconds since the epoch. A flexible window fires at its
 * beginning.
 */
export function nextFiring(
  schedule: Omit<Schedule, "dueAt">,
  after: number,
  parseSchedule: ParseSchedule,
): number | undefined {
  if (schedule.State === "DISABLED") return undefined;
  const { StartDate, EndDate } = schedule;
  const start = StartDate === undefined ? undefined : StartDate * 1000;
  return timetableOf(schedule.ScheduleExpression, parseSchedule).next(after, {
    timeZone: schedule.ScheduleExpressionTimezone,
    base: start ?? schedule.CreationDate * 1000,
    atBase: start !== undefined,
    start,
    end: EndDate === undefined ? undefined : EndDate * 1000,
  });
}

export function scheduleArn({ GroupName, Name }: Pick<Schedule, "GroupName" | "Name">): string {
  return `arn:aws:scheduler:${region}:${account}:schedule/${GroupName}/${Name}`;
}

export function groupArn(group: string): string {
  return `arn:aws:scheduler:${region}:${account}:schedule-group/${group}`;
}

/**
 * Returns the target's input: its `Input` with the context attributes filled in, or the Scheduler's own notification.
 */
export function firingInput(schedule: Schedule, dueAt: number, executionId: string): string {
  const time = new Date(dueAt).toISOString().replace(/\.\d+Z$/, "Z");
  const arn = scheduleArn(schedule);
  const { Input } = schedule.Target;
  if (Input === undefined) {
    const event = { version: "0", id: executionId, "detail-type": "Scheduled Event", source: "aws.scheduler" };
    return JSON.stringify({ ...event, account, time, region, resources: [arn], detail: "{}" });
  }
  return Input.replaceAll("<aws.scheduler.schedule-arn>", arn)
    .replaceAll("<aws.scheduler.scheduled-time>", time)
    .replaceAll("<aws.scheduler.execution-id>", executionId)
    .replaceAll("<aws.scheduler.attempt-number>", "1");
}

export function conflict(message: string): ServiceError {
  return new ServiceError("ConflictException", 409, message);
}

export function notFound(kind: "Schedule" | "ScheduleGroup", name: string): ServiceError {
  return new ServiceError("ResourceNotFoundException", 404, `${kind} ${name} does not exist.`);
}
