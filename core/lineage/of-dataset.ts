import type { DatasetManifest, DatasetVersion } from "../datasets/shapes";
import { viewsOfColumns } from "../feature-store/view-columns";
import type { RunRecords } from "../tracking/run-records";
import type { RunRecord } from "../tracking/shapes";
import type { DatasetContent, DatasetKey, DatasetVersionKey, LineageIndex } from "./port";
import { shardsOf } from "./register-from";
import type { LineageBuilder } from "./shapes";

export interface ForwardDependencies {
  readonly lineage: LineageIndex;
  readonly records: Pick<RunRecords, "findMany">;
}

export interface LineagePage {
  readonly limit: number;
  readonly nextToken?: string;
}

/** Adds a dataset version with its origin and size. */
export function addDataset(
  graph: LineageBuilder,
  { name, version, digest }: DatasetVersionKey,
  found?: DatasetVersion,
): string {
  const { manifest, createdBy, deprecation } = found ?? {};
  const splits = manifest?.split.indexes;
  const node = graph.add("dataset", `${name}@${version}`, {
    digest,
    rows: manifest?.rowCount,
    createdAt: manifest?.createdAt,
    createdBy,
    deprecatedAt: deprecation?.at,
    deprecatedBy: deprecation?.by,
    trainRows: splits?.train.rows,
    validationRows: splits?.validation.rows,
    testRows: splits?.test.rows,
  });
  for (const [view, columns] of viewsOfColumns(manifest?.schema ?? [])) {
    graph.connect(graph.add("view", view, { features: columns.map(({ feature }) => feature).join(", ") }), node);
  }
  const parent = manifest?.parent;
  if (parent) {
    const { version: before, digest: own, rows } = parent;
    graph.connect(graph.add("dataset", `${name}@${before}`, { digest: own, rows }), node);
  }
  return node;
}

/** Adds the raw files of a version, with the rows that came from each. */
export async function addSources(
  graph: LineageBuilder,
  lineage: LineageIndex,
  dataset: DatasetKey,
  node: string,
): Promise<void> {
  for (const source of await lineage.sourcesOf(dataset)) graph.connect(addContent(graph, source), node);
}

/** Adds a version's shards with their places in the store. */
export function addShards(graph: LineageBuilder, manifest: DatasetManifest, node: string): void {
  for (const shard of shardsOf(manifest)) graph.connect(addContent(graph, shard), node);
}

export function addContent(
  graph: LineageBuilder,
  { role, sha256, bytes, file, query, execution, firstRow, rows }: DatasetContent,
): string {
  const lastRow = firstRow + rows - 1;
  return graph.add(role === "source" ? "file" : "shard", sha256, { file, query, execution, bytes, firstRow, lastRow });
}

/**
 * Adds the uses of a version's data: pages of the runs that read it and, on the first page, the model versions.
 *
 * @returns the token of the next page
 */
export async function addUses(
  graph: LineageBuilder,
  { lineage, records }: ForwardDependencies,
  dataset: DatasetKey,
  node: string,
  page: LineagePage,
): Promise<string | undefined> {
  const [runs, models] = await Promise.all([
    lineage.runsOf(dataset, page),
    page.nextToken === undefined ? lineage.modelsOf(dataset) : [],
  ]);
  const known = new Map((await records.findMany(runs.items)).map((record) => [record.runId, record]));
  for (const runId of runs.items) graph.connect(node, addRun(graph, runId, known.get(runId)));
  for (const { model, version, runId } of models) {
    const made = graph.add("model-version", `${model}@${version}`, { model, version });
    if (runId === undefined) {
      graph.connect(node, made);
      continue;
    }
    const run = addRun(graph, runId, known.get(runId));
    graph.connect(node, run);
    graph.connect(run, made);
  }
  return runs.nextToken;
}

export function addRun(graph: LineageBuilder, runId: string, record?: RunRecord): string {
  return graph.add("run", runId, {
    name: record?.name,
    status: record?.status,
    source: record?.source,
    createdBy: record?.createdBy,
    startedAt: record && new Date(record.startedAt).toISOString(),
    weightsSha256: record?.weightsSha256,
  });
}
