import type { CalendarPart } from "./dialects";
import { add, booleanNumber, divide, floor, less, modulo, type NumberExpression, number, strict } from "./expression";
import type { DatePart } from "./shapes";

/** First value and number of values of the periodic parts. */
export const cyclePeriods = {
  month: { first: 1, period: 12 },
  day: { first: 1, period: 31 },
  dayOfYear: { first: 1, period: 366 },
  dayOfWeek: { first: 0, period: 7 },
  hour: { first: 0, period: 24 },
  minute: { first: 0, period: 60 },
  minuteOfDay: { first: 0, period: 1_440 },
} as const;

/**
 * Returns a part of a time in milliseconds since the epoch, UTC: hour 0–23, day of the week 0–6 from Sunday, month
 * 1–12, weekend 0 or 1, whole days since 1970-01-01.
 */
export function datePart(time: NumberExpression, part: DatePart): NumberExpression {
  const whole = (unitMs: number) => floor(divide(time, number(unitMs)));
  const days = whole(86_400_000);
  switch (part) {
    case "days":
      return days;
    case "hour":
      return modulo(whole(3_600_000), 24);
    case "minute":
      return modulo(whole(60_000), 60);
    case "minuteOfDay":
      return modulo(whole(60_000), 1_440);
    case "dayOfWeek":
      return modulo(add(days, number(4)), 7); // 1970-01-01 was a Thursday
    case "weekend":
      return booleanNumber(less(modulo(add(days, number(5)), 7), number(2)));
    case "year":
    case "month":
    case "day":
    case "dayOfYear":
      return calendarPart(days, part);
  }
}

/** Missing if the date is more than 99,000,000 days from 1970: the years that JavaScript's dates have completely. */
function calendarPart(days: NumberExpression, part: CalendarPart): NumberExpression {
  return strict(
    { op: "calendarPart", part },
    [days],
    (dialect, x) => `CAST(${dialect.calendarPart(`CASE WHEN abs(${x}) <= 99E6 THEN ${x} END`, part)} AS DOUBLE)`,
    (x) => (Math.abs(x) <= 99e6 ? partOfDate(x, part) : null),
  );
}

const dayMs = 86_400_000;

function partOfDate(days: number, part: CalendarPart): number {
  const date = new Date(days * dayMs);
  const year = date.getUTCFullYear();
  switch (part) {
    case "year":
      return year;
    case "month":
      return date.getUTCMonth() + 1;
    case "day":
      return date.getUTCDate();
    case "dayOfYear":
      // `setUTCFullYear` because `Date.UTC` takes years below 100 as years of the 20th century.
      return days - new Date(0).setUTCFullYear(year, 0, 1) / dayMs + 1;
  }
}
