const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Returns the milliseconds of `90m`, `36h`, `7d` or `2w`; `undefined` for another text. */
export function ageMs(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5})([mhdw])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? undefined : Number(count) * units[unit]!;
}
