import type { DatasetKey } from "../../core/tracking/lineage/port";

/** Names and digests that clients give may be any text. */
export function datasetPartition(team: string, { name, digest }: DatasetKey): string {
  return `TEAM#${team}#LINEAGE#DATASET#${encodeURIComponent(name)}#${encodeURIComponent(digest)}`;
}

export function contentPartition(team: string, sha256: string): string {
  return `TEAM#${team}#LINEAGE#CONTENT#${sha256}`;
}

/** That a run reads data. */
export function readRow(team: string, dataset: DatasetKey, runId: string): Record<string, unknown> {
  return { pk: datasetPartition(team, dataset), sk: `RUN#${runId}`, runId };
}

/** That a model's version comes of data. */
export function modelRow(
  team: string,
  dataset: DatasetKey,
  edge: { readonly model: string; readonly version: number; readonly runId?: string },
): Record<string, unknown> {
  const number = String(edge.version).padStart(9, "0");
  return { pk: datasetPartition(team, dataset), sk: `MODEL#${edge.model}#${number}`, edge };
}
