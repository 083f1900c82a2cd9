import { type DatasetRepository, getDatasetVersion } from "../datasets/repository";
import type { DatasetVersion } from "../datasets/shapes";
import { type InferenceLog, inferenceWindow } from "../drift/inference-log";
import { measureDrift } from "../drift/measure";
import {
  measureModelDrift,
  modelBaseline,
  type SampledBaseline,
  sampleBaseline,
  trainingOf,
} from "../drift/measure-model";
import type { InferenceBatch } from "../drift/shapes";
import { RingmasterError } from "../errors";
import type { WithRows } from "../evaluation/task";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import { readArtifact } from "../registry/artifact";
import { versionNotFound } from "../registry/errors";
import type { ModelRepository } from "../registry/repository";
import { endAfter, nextBatches, windowLimits } from "./lifecycle";
import type { MonitorEvents, MonitorRepository } from "./ports";
import type { Monitor, MonitorPosition, MonitorWindow, WindowReport } from "./shapes";

export interface EvaluateDependencies {
  readonly team: string;
  readonly monitors: MonitorRepository;
  readonly inferences: Pick<InferenceLog, "list">;
  readonly registry: { readonly repository: Pick<ModelRepository, "find" | "findVersion"> };
  readonly datasets: DatasetRepository;
  readonly objects: ObjectStore;
  readonly events: Pick<MonitorEvents, "publishDrift">;
  readonly clock: Clock;
  readonly withRows: WithRows;
}

/** Windows of one call. The sweep measures the next ones. */
const maxWindows = 10;
const maxDrifted = 20;
const batchesPerPage = 200;

/**
 * Measures the windows of a monitor that have ended, and publishes the drift that they have. Idempotent: a window is one
 * write under the condition that the monitor is unchanged, and its event is published until that is recorded. The reader
 * of events knows a window by its end.
 *
 * @returns the windows that this call has closed
 */
export async function evaluateMonitor(
  dependencies: EvaluateDependencies,
  name: string,
): Promise<readonly MonitorWindow[]> {
  const { monitors } = dependencies;
  const closed: MonitorWindow[] = [];
  const baselines: Baselines = new Map();
  for (let round = 0; round < maxWindows; round += 1) {
    const before = await monitors.find(name);
    if (!before || before.deletedAt !== undefined) break;
    let measured: Measured | undefined;
    try {
      measured = await measureNext(dependencies, before, baselines);
    } catch (error) {
      if (!(error instanceof RingmasterError) || error.retryable || error.httpStatus >= 500) throw error;
      await recordFailure(dependencies, before, error);
      break;
    }
    if (!measured) break;
    const window = await storeWindow(dependencies, before, measured);
    if (!window) continue;
    closed.push(window);
    await publishWindow(dependencies, window);
  }
  return closed;
}

/** Publishes the event of a window with drift, and records that. */
export async function publishWindow(
  { team, monitors, events }: Pick<EvaluateDependencies, "team" | "monitors" | "events">,
  { monitor, window, end, severity, drifted, evaluatedAt, published }: MonitorWindow,
): Promise<void> {
  if (severity === undefined || published) return;
  await events.publishDrift({ at: evaluatedAt, team, monitor, window, windowEnd: end, severity, drifted });
  await monitors.markPublished(monitor, window);
}

interface Measured {
  readonly report: WindowReport;
  readonly position: MonitorPosition;
}

async function storeWindow(
  { monitors, objects, clock }: EvaluateDependencies,
  { lastFailure: _, ...before }: Monitor,
  { report, position }: Measured,
): Promise<MonitorWindow | undefined> {
  const evaluatedAt = isoTime(clock);
  const { severity, schema, columns, multivariate } = report;
  const drifted = [...schema, ...columns].flatMap((one) => (one.severity ? [one.column] : []));
  const window: MonitorWindow = {
    ...{ monitor: before.name, window: before.windows + 1, end: position.at, version: position.version },
    ...{ rows: report.rows.current, drifted: drifted.slice(0, maxDrifted), evaluatedAt },
    ...(severity ? { severity } : {}),
    ...(multivariate ? { auc: multivariate.auc } : {}),
    report: await objects.putContent(JSON.stringify(report), "application/json"),
    published: severity === undefined,
  };
  const next = { ...before, revision: before.revision + 1, windows: window.window, position, updatedAt: evaluatedAt };
  return (await monitors.closeWindow(next, before, window)) ? window : undefined;
}

async function recordFailure(
  { monitors, clock }: EvaluateDependencies,
  before: Monitor,
  { code, message }: RingmasterError,
): Promise<void> {
  if (before.lastFailure?.code === code && before.lastFailure.message === message) return;
  const at = isoTime(clock);
  const next = { ...before, revision: before.revision + 1, lastFailure: { code, message, at }, updatedAt: at };
  // If another process has changed the monitor, the next sweep finds the failure again.
  await monitors.save(next, before);
}

/** The last baseline that a call has read, by `NAME/VERSION` of the model. A version's data never changes. */
type Baselines = Map<string, SampledBaseline>;

function measureNext(
  dependencies: EvaluateDependencies,
  monitor: Monitor,
  baselines: Baselines,
): Promise<Measured | undefined> {
  return monitor.target.type === "model"
    ? measureInferences(dependencies, monitor, monitor.target, baselines)
    : measureVersion(dependencies, monitor, monitor.target);
}

async function measureInferences(
  dependencies: EvaluateDependencies,
  monitor: Monitor,
  target: Extract<Monitor["target"], { type: "model" }>,
  baselines: Baselines,
): Promise<Measured | undefined> {
  const { registry, objects, clock } = dependencies;
  const { model } = target;
  const number = target.version ?? (await registry.repository.find(model))?.production;
  if (number === undefined) return undefined;
  const { position } = monitor;
  // A version that comes into production again continues after its last window.
  const available = await batchesAfter(dependencies, { model, version: number }, position.sequences[number] ?? 0);
  const batches = nextBatches(target, position, available, clock.now());
  const last = batches?.at(-1);
  if (!batches || !last) return undefined;
  const name = `${model}/${number}`;
  const baseline = baselines.get(name) ?? (await readBaseline(dependencies, model, number));
  if (!baseline) return undefined;
  // Only one is kept, because its sample may take 256 MiB.
  if (!baselines.has(name)) baselines.clear();
  baselines.set(name, baseline);
  const window = inferenceWindow(objects, batches, { rate: target.samplingRate });
  const report = await measureModelDrift(baseline, window, monitor.thresholds);
  return {
    report,
    position: {
      version: number,
      sequences: { ...position.sequences, [number]: last.sequence },
      at: endAfter(position.at, last.receivedAt),
    },
  };
}

async function readBaseline(
  { registry, objects, datasets, withRows }: EvaluateDependencies,
  model: string,
  number: number,
): Promise<SampledBaseline | undefined> {
  const version = await registry.repository.findVersion(model, number);
  const artifact = version && (await readArtifact(objects, version));
  if (!version) throw versionNotFound(model, number);
  const { dataset } = trainingOf(version);
  if (!artifact) return undefined;
  const { manifest } = await getDatasetVersion(datasets, dataset.name, dataset.version);
  return withRows(manifest, async (rows) =>
    sampleBaseline(await modelBaseline(objects, version, artifact, { manifest, rows })),
  );
}

async function batchesAfter(
  { inferences }: EvaluateDependencies,
  version: { readonly model: string; readonly version: number },
  after: number,
): Promise<readonly InferenceBatch[]> {
  const batches: InferenceBatch[] = [];
  let nextToken: string | undefined;
  do {
    const page = await inferences.list(version, { after, limit: batchesPerPage, nextToken });
    batches.push(...page.items);
    nextToken = page.nextToken;
  } while (nextToken !== undefined && batches.length < windowLimits.batches);
  return batches;
}

/** Compares the next version of a dataset. Deprecated versions are omitted. */
async function measureVersion(
  { datasets, withRows }: EvaluateDependencies,
  { position, thresholds }: Monitor,
  { dataset, baseline: fixed }: Extract<Monitor["target"], { type: "dataset" }>,
): Promise<Measured | undefined> {
  const newest = (await datasets.findNewest(dataset))?.manifest.version ?? 0;
  let current: DatasetVersion | undefined;
  for (let number = position.version + 1; number <= newest && !current; number += 1) {
    const version = await datasets.find(dataset, number);
    if (version && version.deprecation === undefined) current = version;
  }
  if (!current) return undefined;
  const baseline = await getDatasetVersion(datasets, dataset, fixed ?? position.version);
  const { manifest } = current;
  const report = await withRows(baseline.manifest, (before) =>
    withRows(manifest, (rows) =>
      measureDrift({ manifest: baseline.manifest, rows: before }, { manifest, rows }, thresholds),
    ),
  );
  const at = endAfter(position.at, manifest.createdAt);
  return { report, position: { version: manifest.version, sequences: {}, at } };
}
