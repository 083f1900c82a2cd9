import type { ServedBatch } from "../drift/served-log";
import { nextFire, parseExpression } from "../schedules/expression";
import type { Monitor, MonitorPosition, MonitorTarget } from "./shapes";

/** A window closes early when it has this many rows or batches. Bounds the work of a measurement. */
export const windowLimits = { rows: 100_000, batches: 1_000 } as const;
const defaultRows = 5_000;

type ModelTarget = Extract<MonitorTarget, { type: "model" }>;

/** Returns the number of rows after which a window ends; `undefined` if only a schedule ends it. */
export function rowsPerWindow({ everyRows, schedule }: ModelTarget): number | undefined {
  return everyRows ?? (schedule ? undefined : defaultRows);
}

/** Returns the batches of the next window; `undefined` if it has not ended. */
export function nextBatches(
  target: ModelTarget,
  { at }: Pick<MonitorPosition, "at">,
  /** The batches after the last window, in their order. */
  batches: readonly ServedBatch[],
  now: number,
): readonly ServedBatch[] | undefined {
  const maxRows = Math.min(rowsPerWindow(target) ?? windowLimits.rows, windowLimits.rows);
  let rows = 0;
  for (const [index, batch] of batches.entries()) {
    rows += batch.rows;
    if (rows >= maxRows || index + 1 === windowLimits.batches) return batches.slice(0, index + 1);
  }
  const isDue = target.schedule !== undefined && isPast(target.schedule, at, now);
  return isDue && rows >= target.minRows ? batches : undefined;
}

function isPast({ expression, timeZone }: NonNullable<ModelTarget["schedule"]>, after: string, now: number): boolean {
  const from = Date.parse(after);
  const next = nextFire(parseExpression(expression), from, { timeZone, base: from });
  return next !== undefined && next <= now;
}

/** Returns the end of a window: later than that of the window before, because it identifies the window. */
export function endAfter(previous: string, end: string): string {
  return new Date(Math.max(Date.parse(previous) + 1, Date.parse(end))).toISOString();
}

/** Returns the monitors of which a batch may have filled a window. A missed one is found by the sweep. */
export function monitorsDue(
  monitors: readonly Monitor[],
  version: number,
  { before, rows }: Pick<ServedBatch, "before" | "rows">,
): readonly string[] {
  return monitors.flatMap(({ name, target, position }) => {
    if (target.type !== "model" || (target.version ?? version) !== version) return [];
    const every = rowsPerWindow(target);
    if (every === undefined) return [];
    const isFirst = position.sequences[version] === undefined && before + rows >= every;
    return isFirst || Math.floor((before + rows) / every) > Math.floor(before / every) ? [name] : [];
  });
}
