import { sha256 } from "../../core/digest";
import type { DatasetKey } from "../../core/tracking/lineage/port";

/** In bytes; the rest is the team's. */
const longestKey = 1_500;

/** Names and digests that clients give may be any text. */
export function datasetPartition(team: string, { name, digest }: DatasetKey): string {
  const key = `${encodeURIComponent(name)}#${encodeURIComponent(digest)}`;
  // A partition's key has 2,048 bytes at most, and a name of 500 letters beyond ASCII some 4,500.
  return key.length <= longestKey
    ? `TEAM#${team}#LINEAGE#DATASET#${key}`
    : `TEAM#${team}#LINEAGE#DATASET-SHA256#${sha256(key)}`;
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
