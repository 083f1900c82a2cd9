import { inRounds, type Pause } from "../backoff";
import { type DatasetRepository, getDatasetVersion, resolveDataset } from "../datasets/repository";
import { digestOf } from "../digest";
import { trainingOf } from "../drift/measure-model";
import type { InferenceBatch } from "../drift/shapes";
import { conflict, contended, notFound } from "../errors";
import { type Clock, isoTime } from "../ports";
import type { Registry } from "../registry/registry";
import { nextFire, parseExpression } from "../schedules/expression";
import type { MonitorRepository } from "./ports";
import type { Monitor, MonitorDefinition, MonitorPosition, MonitorTarget } from "./shapes";

/** A window closes early when it has this many rows or batches. Bounds the work of a measurement. */
export const windowLimits = { rows: 100_000, batches: 1_000 } as const;
const defaultRows = 5_000;

type ModelTarget = Extract<MonitorTarget, { type: "model" }>;

/** Returns the number of rows after which a window ends; `undefined` if only a schedule ends it. */
function rowsPerWindow({ everyRows, schedule }: ModelTarget): number | undefined {
  return everyRows ?? (schedule ? undefined : defaultRows);
}

/** Returns the batches of the next window; `undefined` if it has not ended. */
export function nextBatches(
  target: ModelTarget,
  { at }: Pick<MonitorPosition, "at">,
  /** The batches after the last window, in their order. */
  batches: readonly InferenceBatch[],
  now: number,
): readonly InferenceBatch[] | undefined {
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
  { before, rows }: Pick<InferenceBatch, "before" | "rows">,
): readonly string[] {
  return monitors.flatMap(({ name, target, position }) => {
    if (target.type !== "model" || (target.version ?? version) !== version) return [];
    const every = rowsPerWindow(target);
    if (every === undefined) return [];
    const isFirst = position.sequences[version] === undefined && before + rows >= every;
    return isFirst || Math.floor((before + rows) / every) > Math.floor(before / every) ? [name] : [];
  });
}

const monitorNotFound = (name: string) =>
  notFound("MONITOR_NOT_FOUND", `there is no monitor ${JSON.stringify(name)}`, { monitor: name });

export const windowNotFound = (name: string, window: number) =>
  notFound("MONITOR_WINDOW_NOT_FOUND", `monitor ${name} has no window ${window}`, { monitor: name, window });

const monitorExists = (name: string) =>
  conflict("MONITOR_EXISTS", `monitor ${name} already exists with other settings; choose another name`, {
    monitor: name,
  });

interface MonitorDependencies {
  readonly team: string;
  readonly monitors: MonitorRepository;
  readonly registry: Pick<Registry, "head" | "version">;
  readonly datasets: DatasetRepository;
  readonly clock: Clock;
  readonly pause: Pause;
}

const rounds = 20;
const retry = ({ pause }: Pick<MonitorDependencies, "pause">, name: string) => ({
  rounds,
  pause,
  busy: () => contended("MONITOR_BUSY", `monitor ${name}`, { monitor: name }),
});

/**
 * Creates a monitor. Idempotent for the same definition; another definition under the same name is refused. A monitor of
 * a model begins with the inferences that are stored, one of a dataset with the next version. The name of a deleted
 * monitor can be used again: its windows stay, and if it watches the same model or dataset it continues after them.
 *
 * @throws MONITOR_EXISTS, and errors of the model, the version or the dataset
 */
export async function createMonitor(
  dependencies: MonitorDependencies,
  definition: MonitorDefinition,
  by: string,
): Promise<{ readonly created: boolean; readonly monitor: Monitor }> {
  const { monitors, clock, team } = dependencies;
  const { name, target, thresholds } = definition;
  return inRounds(retry(dependencies, name), async () => {
    const oldMonitor = await monitors.find(name);
    if (oldMonitor && oldMonitor.deletedAt === undefined) {
      const same = { name, target: oldMonitor.target, thresholds: oldMonitor.thresholds };
      if (digestOf(same) !== digestOf({ name, target, thresholds })) throw monitorExists(name);
      return { created: false, monitor: oldMonitor };
    }
    const at = isoTime(clock);
    const position = await startOf(dependencies, definition, at);
    // Rows that were measured are not measured again: their drift would start another triggers.
    const isSame = oldMonitor && watchedBy(oldMonitor) === watchedBy(definition);
    const monitor: Monitor = {
      ...definition,
      ...{ team, revision: (oldMonitor?.revision ?? 0) + 1, windows: oldMonitor?.windows ?? 0 },
      position: isSame ? oldMonitor.position : position,
      ...{ createdBy: by, createdAt: at, updatedAt: at },
    };
    return (await monitors.save(monitor, oldMonitor)) ? { created: true, monitor } : undefined;
  });
}

const watchedBy = ({ target }: Pick<Monitor, "target">): string =>
  target.type === "model" ? `model ${target.model}` : `dataset ${target.dataset}`;

async function startOf(
  { registry, datasets }: MonitorDependencies,
  { target }: MonitorDefinition,
  at: string,
): Promise<MonitorPosition> {
  if (target.type === "dataset") {
    if (target.baseline !== undefined) await getDatasetVersion(datasets, target.dataset, target.baseline);
    const { manifest } = await resolveDataset(datasets, target.dataset);
    return { version: manifest.version, sequences: {}, at };
  }
  if (target.version === undefined) await registry.head(target.model);
  else trainingOf(await registry.version(target.model, target.version));
  return { version: target.version ?? 0, sequences: {}, at };
}

/** Deletes a monitor; its windows can still be read. Idempotent. */
export async function deleteMonitor(dependencies: MonitorDependencies, name: string): Promise<Monitor> {
  const { monitors, clock } = dependencies;
  return inRounds(retry(dependencies, name), async () => {
    const monitor = await getMonitor(monitors, name);
    if (monitor.deletedAt !== undefined) return monitor;
    const at = isoTime(clock);
    const deleted = { ...monitor, revision: monitor.revision + 1, updatedAt: at, deletedAt: at };
    return (await monitors.save(deleted, monitor)) ? deleted : undefined;
  });
}

/** @throws MONITOR_NOT_FOUND */
export async function getMonitor(monitors: Pick<MonitorRepository, "find">, name: string): Promise<Monitor> {
  const monitor = await monitors.find(name);
  if (!monitor) throw monitorNotFound(name);
  return monitor;
}

/** Returns the share of a model's units whose inferences are stored: the largest rate of its monitors. */
export function storedRate(monitors: readonly Monitor[]): number {
  const rates = monitors.flatMap(({ target }) => (target.type === "model" ? [target.samplingRate] : []));
  return rates.length === 0 ? 1 : Math.max(...rates);
}
