import { type Cron, CronError, parseCron } from "./cron";

/** A parsed schedule expression: a rate, a cron expression, or one time of the schedule's wall clock. */
export type Expression =
  | { readonly kind: "rate"; readonly intervalMs: number }
  | { readonly kind: "cron"; readonly cron: Cron }
  | { readonly kind: "at"; readonly wall: ReturnType<typeof toWallTime> };

export class ExpressionError extends Error {}

const units = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/**
 * Parses `rate(5 minutes)`, `cron(0 3 * * ? *)`, `at(2026-01-31T12:00:00)`.
 *
 * @throws ExpressionError with the violated rule
 */
export function parseExpression(text: string): Expression {
  const [, kind, argument = ""] = /^(rate|cron|at)\((.*)\)$/.exec(text.trim()) ?? [];
  if (kind === "rate") return parseRate(text, argument);
  if (kind === "at") return parseAt(text, argument);
  if (kind !== "cron") throw new ExpressionError(`'${text}' is none of rate(…), cron(…) and at(…).`);
  try {
    return { kind, cron: parseCron(argument) };
  } catch (error) {
    if (error instanceof CronError)
      throw new ExpressionError(`'${text}' is not valid: ${error.message}.`, { cause: error });
    throw error;
  }
}

function parseRate(text: string, argument: string): Expression {
  const [, value, unit] = /^\s*([1-9]\d*)\s+(minute|hour|day)s?\s*$/.exec(argument) ?? [];
  if (!value)
    throw new ExpressionError(
      `'${text}' is not valid: write rate(value unit), value ≥ 1, unit minute(s), hour(s) or day(s).`,
    );
  return { kind: "rate", intervalMs: Number(value) * units[unit as keyof typeof units] };
}

function parseAt(text: string, argument: string): Expression {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/.exec(argument);
  const time = match ? Date.parse(`${argument}Z`) : Number.NaN;
  // A date such as 31 February does not parse, or rolls over to another date.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 19) !== argument) {
    throw new ExpressionError(`'${text}' is not valid: write at(yyyy-mm-ddThh:mm:ss), a date that there is.`);
  }
  return { kind: "at", wall: toWallTime(time, "UTC") };
}

interface FireOptions {
  /** IANA name. Default UTC. */
  readonly timeZone?: string;
  /** The origin of a rate, and whether it first fires at that time or one interval later. */
  readonly base: number;
  readonly atBase?: boolean;
  /** Earlier firings are omitted. */
  readonly start?: number;
  /** Later firings are omitted. */
  readonly end?: number;
}

/**
 * Returns the first firing after `after`, in milliseconds since the epoch; `undefined` if there is none. Pure. As on
 * AWS, a cron time that the clock skips when it is set forward does not fire; one that occurs twice fires once.
 */
export function nextFire(expression: Expression, after: number, options: FireOptions): number | undefined {
  const floor = Math.max(after, (options.start ?? Number.NEGATIVE_INFINITY) - 1);
  const next = candidate(expression, floor, options);
  return next === undefined || next > (options.end ?? Number.POSITIVE_INFINITY) ? undefined : next;
}

function candidate(expression: Expression, after: number, options: FireOptions): number | undefined {
  const { timeZone = "UTC", base, atBase = false } = options;
  if (expression.kind === "at") {
    const time = fromWallTime(expression.wall, timeZone);
    return time !== undefined && time > after ? time : undefined;
  }
  if (expression.kind === "rate") {
    const { intervalMs } = expression;
    const first = atBase ? base : base + intervalMs;
    return after < first ? first : first + (Math.floor((after - first) / intervalMs) + 1) * intervalMs;
  }
  return nextCron(expression.cron, after, timeZone);
}

function nextCron(cron: Cron, after: number, timeZone: string): number | undefined {
  const from = toWallTime(after, timeZone);
  const hours = [...cron.hours].sort((a, b) => a - b);
  const minutes = [...cron.minutes].sort((a, b) => a - b);
  for (const year of [...cron.years].filter((y) => y >= from.year).sort((a, b) => a - b)) {
    for (let month = year === from.year ? from.month : 1; month <= 12; month += 1) {
      if (!cron.months.has(month)) continue;
      const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
      const firstDay = year === from.year && month === from.month ? from.day : 1;
      for (let day = firstDay; day <= days; day += 1) {
        if (!cron.matchesDay(year, month, day)) continue;
        for (const hour of hours) {
          for (const minute of minutes) {
            const time = fromWallTime({ year, month, day, hour, minute, second: 0 }, timeZone);
            if (time !== undefined && time > after) return time;
          }
        }
      }
    }
  }
  return undefined;
}

/** A time as a wall clock shows it. `month` and `day` count from 1. */
interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws RangeError for a zone that the IANA database does not have */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const numeric = "numeric" as const;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    hourCycle: "h23",
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  formats.set(timeZone, format);
  return format;
}

export function isTimeZone(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

/** @param time milliseconds since the epoch */
export function toWallTime(time: number, timeZone: string): WallTime {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year, month, day, hour, minute, second } = parts as Record<keyof WallTime, number>;
  return { year, month, day, hour, minute, second };
}

function asIfUtc(wall: WallTime): number {
  return Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
}

/**
 * Converts a wall time of a zone to milliseconds since the epoch: the first of two if the clock is set back over it,
 * `undefined` if the clock is set forward over it.
 */
export function fromWallTime(wall: WallTime, timeZone: string): number | undefined {
  const naive = asIfUtc(wall);
  const day = 86_400_000;
  // Offsets of the zone on both sides of any nearby change. The larger offset gives the earlier time.
  const offsets = [naive - day, naive + day].map((time) => asIfUtc(toWallTime(time, timeZone)) - time);
  const times = offsets.map((offset) => naive - offset).sort((a, b) => a - b);
  return times.find((time) => asIfUtc(toWallTime(time, timeZone)) === naive);
}
