import { sha256 } from "../../core/digest";
import type { DatasetKey, DatasetVersionKey, ViewDataset } from "../../core/lineage/port";
import type { Key } from "./table";

/** The maximum length of the rest of the key in bytes, in addition to the team. */
const maxKeyBytes = 1_500;

/** Returns the partition of a dataset. The name and the digest come from clients and may be any text. */
export function datasetPartition(team: string, { name, digest }: DatasetKey): string {
  const key = `${encodeURIComponent(name)}#${encodeURIComponent(digest)}`;
  // The key of a partition has at most 2,048 bytes, and a name of 500 letters beyond ASCII may have 4,500.
  return key.length <= maxKeyBytes
    ? `TEAM#${team}#LINEAGE#DATASET#${key}`
    : `TEAM#${team}#LINEAGE#DATASET-SHA256#${sha256(key)}`;
}

export function contentPartition(team: string, sha256: string): string {
  return `TEAM#${team}#LINEAGE#CONTENT#${sha256}`;
}

export function viewPartition(team: string, view: string): string {
  return `TEAM#${team}#LINEAGE#VIEW#${view}`;
}

/** Builds the row for a dataset version that has columns of a view. */
export function viewRow(team: string, dataset: DatasetVersionKey, reference: string): Key {
  const [view, version] = reference.split("@") as [string, string];
  const edge: ViewDataset = { view: Number(version), dataset };
  const sk = `VERSION#${version.padStart(9, "0")}#DATASET#${dataset.name}#${dataset.digest}`;
  return { pk: viewPartition(team, view), sk, edge };
}

/** Builds the row for a run that reads data. */
export function readRow(team: string, dataset: DatasetKey, runId: string): Key {
  return { pk: datasetPartition(team, dataset), sk: `RUN#${runId}`, runId };
}

/** Builds the row for a model version that is derived from data. */
export function modelRow(
  team: string,
  dataset: DatasetKey,
  edge: { readonly model: string; readonly version: number; readonly runId?: string },
): Key {
  const number = String(edge.version).padStart(9, "0");
  return { pk: datasetPartition(team, dataset), sk: `MODEL#${edge.model}#${number}`, edge };
}
