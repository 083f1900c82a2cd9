import { BoundedMap } from "../../core/bounded-map";
import { sha256 } from "../../core/digest";
import { eachLimited } from "../../core/each-limited";
import type { ContentUse, DatasetKey, DatasetVersionKey, LineageIndex, ViewDataset } from "../../core/lineage/port";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { catalogTable, ex, type Item, type Key, type Table } from "./table";

/** The maximum length of the rest of the key in bytes, in addition to the team. */
const maxKeyBytes = 1_500;

/** Returns the partition of a dataset. The name and the digest come from clients and may be any text. */
function datasetPartition(team: string, { name, digest }: DatasetKey): string {
  const key = `${encodeURIComponent(name)}#${encodeURIComponent(digest)}`;
  // The key of a partition has at most 2,048 bytes, and a name of 500 letters beyond ASCII may have 4,500.
  return key.length <= maxKeyBytes
    ? `TEAM#${team}#LINEAGE#DATASET#${key}`
    : `TEAM#${team}#LINEAGE#DATASET-SHA256#${sha256(key)}`;
}

function contentPartition(team: string, sha256: string): string {
  return `TEAM#${team}#LINEAGE#CONTENT#${sha256}`;
}

function viewPartition(team: string, view: string): string {
  return `TEAM#${team}#LINEAGE#VIEW#${view}`;
}

function viewRow(team: string, dataset: DatasetVersionKey, reference: string): Key {
  const [view, version] = reference.split("@") as [string, string];
  const record: ViewDataset = { view: Number(version), dataset };
  const sk = `VERSION#${version.padStart(9, "0")}#DATASET#${dataset.name}#${dataset.digest}`;
  return { pk: viewPartition(team, view), sk, record };
}

export function readRow(team: string, dataset: DatasetKey, runId: string): Key {
  return { pk: datasetPartition(team, dataset), sk: `RUN#${runId}`, runId };
}

export function modelRow(
  team: string,
  dataset: DatasetKey,
  record: { readonly model: string; readonly version: number; readonly runId?: string },
): Key {
  const number = String(record.version).padStart(9, "0");
  return { pk: datasetPartition(team, dataset), sk: `MODEL#${record.model}#${number}`, record };
}

const putsAtOnce = 25;

/** @param written edges of logged runs, of all teams, that this process need not write again */
function createLineageIndex(table: Table, team: string, written: BoundedMap<string, true>): LineageIndex {
  const put = (items: readonly Item[]) => eachLimited(items, putsAtOnce, (item) => table.put(item));

  const under = (pk: string, prefix: string) => ex`pk = ${pk} AND begins_with(sk, ${prefix})`;

  return {
    async noteContents(dataset, contents) {
      const { name, version, digest } = dataset;
      const byKey = new Map<string, Item>();
      const add = (item: Item): void => void byKey.set(`${item["pk"]} ${item["sk"]}`, item);
      for (const content of contents) {
        const { sha256, bytes: _, ...use } = content;
        const at = `${content.role}#${String(content.firstRow).padStart(12, "0")}`;
        const record: ContentUse = { dataset: { name, version, digest }, ...use };
        add({ pk: contentPartition(team, sha256), sk: `DATASET#${name}#${digest}#${at}`, record });
        // The version's own row lists its shards.
        if (content.role === "source")
          add({ pk: datasetPartition(team, dataset), sk: `SOURCE#${sha256}`, record: content });
      }
      await put([...byKey.values()]);
    },

    async noteViews({ name, version, digest }, views) {
      await put(views.map((view) => viewRow(team, { name, version, digest }, view)));
    },

    async noteInputs(runId, datasets) {
      const keyOf = ({ name, digest }: DatasetKey): string => JSON.stringify([runId, name, digest]);
      const fresh = new Map(datasets.map((dataset) => [keyOf(dataset), dataset]));
      for (const key of fresh.keys()) if (written.has(key)) fresh.delete(key);
      await put([...fresh.values()].map((dataset) => readRow(team, dataset, runId)));
      for (const key of fresh.keys()) written.set(key, true);
    },

    usesOf: (sha256) => table.records(under(contentPartition(team, sha256), "DATASET#")),
    datasetsOfView: (view, page) => table.page(under(viewPartition(team, view), "VERSION#"), page),
    sourcesOf: (dataset) => table.records(under(datasetPartition(team, dataset), "SOURCE#")),
    modelsOf: (dataset) => table.records(under(datasetPartition(team, dataset), "MODEL#")),
    runsOf: (dataset, page) =>
      table.page(under(datasetPartition(team, dataset), "RUN#"), page, (item) => item["runId"] as string),
  };
}

const recordedInputs = sharedPort({ make: () => new BoundedMap<string, true>(10_000) });

export const lineage = teamPort({
  uses: { table: catalogTable(), recordedInputs: recordedInputs() },
  grants: { read: [catalog("Query")], write: [catalog("PutItem")] },
  make: ({ table, recordedInputs }, { team }) => createLineageIndex(table, team, recordedInputs),
});
