import { type DatasetRepository, getDatasetVersion } from "../../core/datasets/repository";
import type { DatasetManifest, DatasetVersion } from "../../core/datasets/shapes";
import { RingmasterError } from "../../core/errors";
import { viewsOfColumns } from "../../core/feature-store/view-columns";
import type { DatasetContent, DatasetKey, DatasetVersionKey, LineageIndex } from "../../core/lineage/port";
import { shardsOf } from "../../core/lineage/register-from";
import { objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import type { RunRecords } from "../../core/tracking/run-records";
import type { RunRecord } from "../../core/tracking/shapes";
import { LineageBuilder, type LineageGraph } from "./shapes";

export async function lineageOfDataset(
  dependencies: ForwardDependencies & { readonly datasets: DatasetRepository },
  name: string,
  version: number,
  page: LineagePage,
): Promise<LineageGraph> {
  const row = await getDatasetVersion(dependencies.datasets, name, version);
  const { manifest } = row;
  const graph = new LineageBuilder();
  const root = addDataset(graph, manifest, row);
  if (page.nextToken === undefined) {
    await addSources(graph, dependencies.lineage, manifest, root);
    addShards(graph, manifest, root);
  }
  return graph.finish(root, await addUses(graph, dependencies, manifest, root, page));
}

/**
 * Returns the lineage of a content by its SHA-256, a raw file or a shard: every version that holds it, with the first
 * runs of each. @throws RingmasterError CONTENT_NOT_FOUND if nothing is known of it
 */
export async function lineageOfContent(
  dependencies: ForwardDependencies & { readonly objects: Pick<ObjectStore, "size"> },
  sha256: string,
  limit: number,
): Promise<LineageGraph> {
  const { lineage, objects } = dependencies;
  const graph = new LineageBuilder();
  const [uses, bytes] = await Promise.all([lineage.usesOf(sha256), objects.size(objectKeys.content(sha256))]);
  if (uses.length === 0 && bytes === undefined)
    throw new RingmasterError(
      `no dataset version uses a file with SHA-256 ${sha256}, and the content store does not have it; check the digest (sha256sum FILE) and that the file was pushed to this team`,
      { code: "CONTENT_NOT_FOUND", httpStatus: 404 },
    );
  const [first] = uses;
  // One content may be in several versions at different rows. The dataset's lineage shows the rows.
  const root = graph.add(first?.role === "shard" ? "shard" : "file", sha256, { file: first?.file, bytes });
  for (const { dataset } of uses) {
    const node = addDataset(graph, dataset);
    graph.connect(root, node);
    await addUses(graph, dependencies, dataset, node, { limit });
  }
  return graph.finish(root);
}

interface ForwardDependencies {
  readonly lineage: LineageIndex;
  readonly records: Pick<RunRecords, "findMany">;
}

interface LineagePage {
  readonly limit: number;
  readonly nextToken?: string;
}

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

export function addShards(graph: LineageBuilder, manifest: DatasetManifest, node: string): void {
  for (const shard of shardsOf(manifest)) graph.connect(addContent(graph, shard), node);
}

function addContent(
  graph: LineageBuilder,
  { role, sha256, bytes, file, transform, firstRow, rows }: DatasetContent,
): string {
  const lastRow = firstRow + rows - 1;
  return graph.add(role === "source" ? "file" : "shard", sha256, {
    file,
    transform,
    bytes,
    firstRow,
    lastRow,
  });
}

/**
 * Adds a page of the runs that read a version and, on the first page, model versions. @returns the next page's token
 */
async function addUses(
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
    const versionNode = graph.add("model-version", `${model}@${version}`, { model, version });
    if (runId === undefined) {
      graph.connect(node, versionNode);
      continue;
    }
    const run = addRun(graph, runId, known.get(runId));
    graph.connect(node, run);
    graph.connect(run, versionNode);
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
