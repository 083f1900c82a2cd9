/**
 * AWS's cron expressions: `cron(minutes hours day-of-month month day-of-week year)`, with `,` `-` `*` `/` everywhere,
 * `?` in one of the day fields, `L` and `W` in the day of the month, `L` and `#` in the day of the week (1 is Sunday).
 * Source: "Cron expressions", Amazon EventBridge user guide.
 */
interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  /** Tests whether a day matches the expression. `month` and `day` count from 1. */
  matchesDay(year: number, month: number, day: number): boolean;
}

class CronError extends Error {}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly words?: readonly string[];
}

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const fields = {
  minutes: { name: "minutes", min: 0, max: 59 },
  hours: { name: "hours", min: 0, max: 23 },
  dayOfMonth: { name: "day-of-month", min: 1, max: 31 },
  month: { name: "month", min: 1, max: 12, words: months },
  dayOfWeek: { name: "day-of-week", min: 1, max: 7, words: weekdays },
  year: { name: "year", min: 1970, max: 2199 },
} as const satisfies Record<string, Field>;

/** @param text the six fields, without `cron(…)` */
function parseCron(text: string): Cron {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 6) throw new CronError(`a cron expression has 6 fields, but '${text}' has ${parts.length}`);
  const [minutes, hours, dayOfMonth, month, dayOfWeek, year] = parts as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  if ((dayOfMonth === "?") === (dayOfWeek === "?")) {
    throw new CronError(
      `exactly one of day-of-month and day-of-week must be '?', but they are '${dayOfMonth}' and '${dayOfWeek}'`,
    );
  }
  const matchesDay = dayOfMonth === "?" ? weekdayRule(dayOfWeek) : monthdayRule(dayOfMonth);
  return {
    minutes: parseSet(minutes, fields.minutes),
    hours: parseSet(hours, fields.hours),
    months: parseSet(month, fields.month),
    years: parseSet(year, fields.year),
    matchesDay,
  };
}

type DayRule = Cron["matchesDay"];

function lastDay(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Returns the weekday; 1 is Sunday. */
function weekday(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}

function monthdayRule(text: string): DayRule {
  const rules = text.split(",").map((item): DayRule => {
    if (item === "L") return (year, month, day) => day === lastDay(year, month);
    if (item === "LW") return (year, month, day) => day === nearestWeekday(year, month, lastDay(year, month));
    const near = /^(\d+)W$/.exec(item);
    if (near) {
      const target = parseValue(near[1]!, fields.dayOfMonth);
      return (year, month, day) => target <= lastDay(year, month) && day === nearestWeekday(year, month, target);
    }
    const days = parseSet(item, fields.dayOfMonth);
    return (_year, _month, day) => days.has(day);
  });
  return (year, month, day) => rules.some((rule) => rule(year, month, day));
}

/** Returns the weekday nearest to a day within the same month. */
function nearestWeekday(year: number, month: number, target: number): number {
  const of = weekday(year, month, target);
  if (of === 7) return target > 1 ? target - 1 : target + 2;
  if (of === 1) return target < lastDay(year, month) ? target + 1 : target - 2;
  return target;
}

function weekdayRule(text: string): DayRule {
  const rules = text.split(",").map((item): DayRule => {
    if (item === "L") return (year, month, day) => weekday(year, month, day) === 7;
    const last = /^(\w+)L$/.exec(item);
    if (last) {
      const wanted = parseValue(last[1]!, fields.dayOfWeek);
      return (year, month, day) => weekday(year, month, day) === wanted && day > lastDay(year, month) - 7;
    }
    const nth = /^(\w+)#(\d)$/.exec(item);
    if (nth) {
      const wanted = parseValue(nth[1]!, fields.dayOfWeek);
      const n = Number(nth[2]);
      if (n < 1 || n > 5) throw new CronError(`day-of-week is '${item}', but the number after '#' must be 1–5`);
      return (year, month, day) => weekday(year, month, day) === wanted && Math.ceil(day / 7) === n;
    }
    const days = parseSet(item, fields.dayOfWeek);
    return (year, month, day) => days.has(weekday(year, month, day));
  });
  return (year, month, day) => rules.some((rule) => rule(year, month, day));
}

/** Parses `*`, `5`, `1-5`, `*​/10`, `5/15`, `1-20/2`, and lists of them. A range may wrap: `FRI-MON`. */
function parseSet(text: string, field: Field): ReadonlySet<number> {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const [range = "", step, ...more] = item.split("/");
    if (more.length > 0 || (step !== undefined && !/^[1-9]\d*$/.test(step))) throw invalid(item, field);
    const [first, last, ...others] = range === "*" ? [String(field.min), String(field.max)] : range.split("-");
    if (others.length > 0) throw invalid(item, field);
    const from = parseValue(first!, field);
    const to = last === undefined ? (step === undefined ? from : field.max) : parseValue(last, field);
    const span = field.max - field.min + 1;
    const length = to >= from ? to - from : to - from + span;
    for (let offset = 0; offset <= length; offset += Number(step ?? 1)) {
      values.add(((from - field.min + offset) % span) + field.min);
    }
  }
  return values;
}

function parseValue(text: string, field: Field): number {
  const word = field.words?.indexOf(text.toUpperCase()) ?? -1;
  const value = word >= 0 ? word + field.min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= field.min && value <= field.max)) throw invalid(text, field);
  return value;
}

function invalid(text: string, { name, min, max }: Field): CronError {
  return new CronError(`${name} holds '${text}', but its values are ${min}–${max}`);
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
