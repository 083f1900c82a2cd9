import { mayHaveCurve } from "../../core/evaluation/metric-goal";
import { type EvaluationOutput, evaluationKind } from "../../core/evaluation/shapes";
import { CorruptObjectError } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import type { Model, ModelVersion, NextStep } from "../../core/registry/model";
import type { ModelRepository } from "../../core/registry/repository";
import { runNotFound } from "../../core/runs/errors";
import type { RunRepository } from "../../core/runs/run-repository";
import type { RunDetails } from "../../core/runs/shapes";
import { findOutput } from "../../core/runs/step";
import type { Artifacts } from "../../core/tracking/artifacts";
import type { Experiments } from "../../core/tracking/experiments";
import type { MetricStore, MetricSummary } from "../../core/tracking/metric-store";
import type { RunRecords } from "../../core/tracking/run-records";
import type { SearchedRun } from "../../core/tracking/search/query";
import type { ArtifactEntry, Experiment, RunRecord } from "../../core/tracking/shapes";
import type { Curve } from "../compare/comparison";
import { curvesOf } from "../compare/curves";
import { metricsOf } from "../compare/pivot";
import { readShownEvaluation, type ShownEvaluation } from "../report/shown-evaluation";
import { nextSteps } from "../services/next-steps";

const fileLimits = { entries: 300, directories: 40, images: 6, imageBytes: 400_000, allImageBytes: 1_200_000 } as const;

/** Image types that a browser draws without running code. */
const imageTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

interface RunFilesPorts {
  readonly artifacts: Pick<Artifacts, "list">;
  readonly objects: Pick<ObjectStore, "getRange">;
}

interface RunFiles {
  readonly files: readonly ArtifactEntry[];
  readonly moreFiles: boolean;
  readonly images: readonly { readonly path: string; readonly dataUrl: string }[];
}

/**
 * Reads a run's files, one directory after another up to the limits of a page, and the first small images among them.
 */
async function filesOf(ports: RunFilesPorts, runId: string): Promise<RunFiles> {
  const owner = { kind: "run", runId } as const;
  const waiting = [""];
  const entries: ArtifactEntry[] = [];
  let looked = 0;
  while (waiting.length > 0 && looked < fileLimits.directories && entries.length < fileLimits.entries) {
    looked += 1;
    for (const entry of await ports.artifacts.list(owner, waiting.shift()!)) {
      if (entry.isDirectory) waiting.push(entry.path);
      else entries.push(entry);
    }
  }
  const files = entries.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, fileLimits.entries);
  const moreFiles = waiting.length > 0 || entries.length > fileLimits.entries;
  return { files, moreFiles, images: await imagesOf(ports, files) };
}

async function imagesOf(
  { objects }: Pick<RunFilesPorts, "objects">,
  files: readonly ArtifactEntry[],
): Promise<RunFiles["images"]> {
  let left: number = fileLimits.allImageBytes;
  const small = files.filter(({ path, bytes = 0, sha256 }) => {
    if (typeOf(path) === undefined || sha256 === undefined || bytes === 0 || bytes > fileLimits.imageBytes)
      return false;
    left -= bytes;
    return left >= 0;
  });
  const read = small.slice(0, fileLimits.images).map(async ({ path, bytes = 0, sha256 = "" }) => {
    const content = await objects.getRange(objectKeys.content(sha256), 0, bytes);
    return { path, dataUrl: `data:${typeOf(path)};base64,${Buffer.from(content).toString("base64")}` };
  });
  return Promise.all(read);
}

function typeOf(path: string): string | undefined {
  const extension = /\.([a-z]{3,4})$/i.exec(path)?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(imageTypes, extension) ? imageTypes[extension] : undefined;
}

/** Limits of a page: a response has a few megabytes, and a person reads less. */
const pageLimits = {
  curves: 24,
  points: 300,
  machineCurves: 48,
  machinePoints: 100,
  children: 50,
  models: 24,
  diffBytes: 96_000,
} as const;
/** Tolerance for a client's clock that was behind the server's when the run started. */
const clockSlackMs = 86_400_000;

interface RunPagePorts {
  readonly records: Pick<RunRecords, "find" | "findMany" | "children">;
  readonly runs: Pick<RunRepository, "findDetails">;
  readonly experiments: Pick<Experiments, "find">;
  readonly metrics: Pick<MetricStore, "summaries"> & Pick<MetricStore, "downsample" | "summariesOf">;
  readonly artifacts: Pick<Artifacts, "list">;
  readonly objects: Pick<ObjectStore, "getRange" | "size" | "getContent">;
  readonly registry: { readonly repository: Pick<ModelRepository, "list" | "listVersions"> };
}

export interface RunPage extends RunFiles {
  readonly record: RunRecord;
  readonly experiment?: Experiment;
  readonly metrics: readonly MetricSummary[];
  readonly curves: readonly Curve[];
  readonly parent?: RunRecord;
  readonly children: readonly SearchedRun[];
  readonly childCount: number;
  readonly versions: readonly ModelVersion[];
  /** The next steps of those of `versions` that this run made or waits for; absent if no step leads to production. */
  readonly next: readonly { readonly version: ModelVersion; readonly steps: readonly NextStep[] }[];
  readonly details?: RunDetails;
  readonly evaluation?: ShownEvaluation;
  readonly diff?: { readonly text: string; readonly cut: boolean };
}

/** @throws RUN_NOT_FOUND */
export async function readRunPage(ports: RunPagePorts, runId: string): Promise<RunPage> {
  const record = await ports.records.find(runId);
  if (!record) throw runNotFound(runId);
  const [experiment, metrics, details, parent, children, versionRows, files, diff] = await Promise.all([
    ports.experiments.find(record.experimentId),
    ports.metrics.summaries(runId),
    record.source === "training" ? ports.runs.findDetails(runId) : undefined,
    record.parentRunId === undefined ? undefined : ports.records.find(record.parentRunId),
    childrenOf(ports, runId),
    versionsOf(ports.registry.repository, record),
    filesOf(ports, runId),
    diffOf(ports.objects, record),
  ]);
  const evaluated = details && findOutput(details, evaluationKind);
  const evaluation = evaluated && (await evaluationOf(ports.objects, evaluated));
  return {
    ...{ metrics, ...children, ...files },
    record: evaluation instanceof CorruptObjectError ? { ...record, unreadable: evaluation.message } : record,
    versions: versionRows.map(({ version }) => version),
    next: nextOf(versionRows, details),
    experiment,
    parent,
    details,
    diff,
    ...(evaluation && !(evaluation instanceof CorruptObjectError) ? { evaluation } : {}),
    curves: await drawnCurves(ports.metrics, { record, metrics }),
  };
}

/** Returns the error of an evaluation whose documents are damaged: the rest of the page is shown without it. */
async function evaluationOf(objects: RunPagePorts["objects"], { report }: EvaluationOutput) {
  try {
    return await readShownEvaluation(objects, report);
  } catch (error) {
    if (error instanceof CorruptObjectError) return error;
    throw error;
  }
}

/** Returns curves of metrics with a history: the run's own first, then those of its machines. */
async function drawnCurves(store: RunPagePorts["metrics"], run: SearchedRun): Promise<readonly Curve[]> {
  const past = new Set(run.metrics.filter(mayHaveCurve).map(({ metric }) => metric));
  const all = metricsOf([run]).filter((metric) => past.has(metric));
  const read = (metrics: readonly string[], points: number) =>
    curvesOf(store, [run], { metrics, axis: "step", points });
  const [curves, machines] = await Promise.all([
    read(all.filter((metric) => !metric.startsWith("system/")).slice(0, pageLimits.curves), pageLimits.points),
    read(
      all.filter((metric) => metric.startsWith("system/")).slice(0, pageLimits.machineCurves),
      pageLimits.machinePoints,
    ),
  ]);
  // A single point is a number in the table.
  return [...curves, ...machines].filter(({ series }) => series.some(({ total }) => total > 1));
}

async function childrenOf({ records, metrics }: RunPagePorts, runId: string) {
  const ids = await records.children(runId);
  const shown = ids.slice(0, pageLimits.children);
  if (shown.length === 0) return { children: [], childCount: 0 };
  const [rows, summaries] = await Promise.all([records.findMany(shown), metrics.summariesOf(shown)]);
  const children = rows.map((record) => ({ record, metrics: summaries.get(record.runId) ?? [] }));
  return { children, childCount: ids.length };
}

/** Returns the model versions that name the run, from the models that were changed since it started: the latest few. */
async function versionsOf(
  registry: RunPagePorts["registry"]["repository"],
  { runId, startedAt }: RunRecord,
): Promise<readonly FoundVersion[]> {
  const changedSince = ({ lifecycle, updatedAt }: Model): boolean =>
    lifecycle === "active" && Date.parse(updatedAt) >= startedAt - clockSlackMs;
  const models = (await registry.list())
    .filter(changedSince)
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, pageLimits.models);
  const versions = await Promise.all(
    models.map(async (model) => (await registry.listVersions(model.name)).map((version) => ({ model, version }))),
  );
  return versions.flat().filter(({ version }) => version.runId === runId && version.lifecycle === "active");
}

interface FoundVersion {
  readonly model: Model;
  readonly version: ModelVersion;
}

/** Returns the next steps in a training run. If another run waits for a version, it belongs to that run. */
function nextOf(found: readonly FoundVersion[], details: RunDetails | undefined): RunPage["next"] {
  if (!details) return [];
  const { run } = details;
  return found
    .filter(({ version }) => version.awaitedBy === undefined || version.awaitedBy === run.runId)
    .map(({ model, version }) => ({
      version,
      steps: nextSteps(model, version, run).filter(({ kind }) => kind !== "none"),
    }))
    .filter(({ steps }) => steps.length > 0);
}

/** Returns the start of the patch; `undefined` if the store has none. */
async function diffOf(
  objects: RunPagePorts["objects"],
  { code: { diffSha256 } }: RunRecord,
): Promise<RunPage["diff"] | undefined> {
  if (diffSha256 === undefined) return undefined;
  const key = objectKeys.content(diffSha256);
  const size = await objects.size(key);
  if (size === undefined) return undefined;
  const bytes = size === 0 ? new Uint8Array() : await objects.getRange(key, 0, Math.min(size, pageLimits.diffBytes));
  return { text: new TextDecoder().decode(bytes), cut: size > pageLimits.diffBytes };
}
