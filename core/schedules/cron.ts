/**
 * AWS's cron expressions: `cron(minutes hours day-of-month month day-of-week year)`, with `,` `-` `*` `/` everywhere,
 * `?` in one of the day fields, `L` and `W` in the day of the month, `L` and `#` in the day of the week (1 is Sunday).
 * Source: "Cron expressions", Amazon EventBridge user guide.
 */
export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  /** Tests whether a day matches the expression. `month` and `day` count from 1. */
  matchesDay(year: number, month: number, day: number): boolean;
}

export class CronError extends Error {}

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
export function parseCron(text: string): Cron {
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
