/** Milliseconds. A month and a year have no one length: `now-30d` says which is meant. */
const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `now`, `now-7d`, `now - 1d - 12h`, `now+1.5h`. */
export const momentPattern = /now(?:\s*[+-]\s*\d{1,9}(?:\.\d{1,9})?[smhdw])*(?![\p{L}\p{N}_/:@$#.+-])/iuy;

export const momentHint =
  "write now-7d: now, + or -, a number, and s, m, h, d or w for seconds, minutes, hours, days or weeks";

/** @param now milliseconds since the epoch */
export function momentOf(text: string, now: number): number {
  let moment = now;
  for (const [, sign, count, unit] of text.matchAll(/([+-])\s*([\d.]+)([smhdw])/gi)) {
    moment += (sign === "-" ? -1 : 1) * Number(count) * units[unit!.toLowerCase()]!;
  }
  return Math.round(moment);
}
