/** A time as a wall clock shows it. `month` and `day` count from 1. */
export interface WallTime {
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
