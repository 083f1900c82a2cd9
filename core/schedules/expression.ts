import { Cron } from "croner";

/**
 * AWS's cron expressions: `cron(minutes hours day-of-month month day-of-week year)`, with `,` `-` `*` `/` everywhere,
 * `?` in one of the day fields, `L` and `W` in the day of the month, `L` and `#` in the day of the week (1 is Sunday).
 * Source: "Cron expressions", Amazon EventBridge user guide. They are translated to croner's and read in UTC, so that
 * the clock changes of a zone stay those of AWS.
 *
 * @param text the six fields, without `cron(…)`
 */
function parseCron(text: string): Cron {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 6) throw new Error(`a cron expression has 6 fields, but '${text}' has ${parts.length}`);
  const [dayOfMonth, dayOfWeek] = [parts[2], parts[4]];
  if ((dayOfMonth === "?") === (dayOfWeek === "?")) {
    throw new Error(
      `exactly one of day-of-month and day-of-week must be '?', but they are '${dayOfMonth}' and '${dayOfWeek}'`,
    );
  }
  const fields = parts.map((field, at) => (at === 4 ? field.split(",").map(weekdayItem).join() : field));
  // `5/15` begins at 5 and ends with the field.
  const stepped = fields.map((field, at) => field.replaceAll(/(^|,)(\w+)\//g, `$1$2-${lastValues[at]}/`));
  return new Cron(["0", ...stepped].join(" ").replaceAll("?", "*"), { timezone: "UTC", paused: true });
}

const ranges = "minutes are 0–59, hours 0–23, days 1–31, months 1–12";
const lastValues = [59, 23, 31, 12, 6, 2199];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** Translates an item of day-of-week: croner counts from 0, and its ranges do not wrap, as in `FRI-MON`. */
function weekdayItem(item: string): string {
  if (item === "L") return "6";
  const [, first, last = "", rest = ""] = /^(\w+?)(-\w+)?(L|#\d+|\/\d+)?$/.exec(item) ?? [];
  if (first === undefined) return item;
  const [from, to] = [weekday(first), last === "" ? undefined : weekday(last.slice(1))];
  if (to === undefined) return `${from}${rest === "L" ? "#L" : rest}`;
  return from <= to ? `${from}-${to}${rest}` : `${from}-6${rest},0-${to}${rest}`;
}

function weekday(text: string): number {
  const named = weekdays.indexOf(text.toUpperCase());
  const value = named >= 0 ? named : Number(text) - 1;
  if (!(value >= 0 && value <= 6)) throw new Error(`day-of-week holds '${text}', but its values are 1–7 and SUN–SAT`);
  return value;
}

/** A parsed schedule expression: a rate, a cron expression, or one time of the schedule's wall clock. */
export type Expression =
  | { readonly kind: "rate"; readonly intervalMs: number }
  | { readonly kind: "cron"; readonly cron: Cron }
  | { readonly kind: "at"; readonly wall: ReturnType<typeof toWallTime> };

export class ExpressionError extends Error {}

const units = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/**
 * Parses `rate(5 minutes)`, `cron(0 3 * * ? *)`, `at(2026-01-31T12:00:00)`.
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
    // croner counts months from 0 in its message.
    const rule = (error as Error).message
      .replace("CronPattern: ", "")
      .replace(/(?<=Invalid value for \w+): \d+$|\.$/, `: ${ranges}`);
    throw new ExpressionError(`'${text}' is not valid: ${rule}.`, { cause: error });
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
  for (let wall = asIfUtc(toWallTime(after, timeZone)); ; ) {
    const next = cron.nextRun(new Date(wall));
    if (next === null) return undefined;
    wall = next.getTime();
    const time = fromWallTime(toWallTime(wall, "UTC"), timeZone);
    if (time !== undefined && time > after) return time;
  }
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
  const cachedFormat = formats.get(timeZone);
  if (cachedFormat) return cachedFormat;
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

/** Converts a zone's wall time: the first of two if the clock is set back over it, `undefined` if forward. */
export function fromWallTime(wall: WallTime, timeZone: string): number | undefined {
  const naive = asIfUtc(wall);
  const day = 86_400_000;
  // Offsets of the zone on both sides of any nearby change. The larger offset gives the earlier time.
  const offsets = [naive - day, naive + day].map((time) => asIfUtc(toWallTime(time, timeZone)) - time);
  const times = offsets.map((offset) => naive - offset).sort((a, b) => a - b);
  return times.find((time) => asIfUtc(toWallTime(time, timeZone)) === naive);
}
