import { BoundedMap } from "../../core/bounded-map";
import type {
  ContentUse,
  DatasetContent,
  DatasetKey,
  LineageIndex,
  ModelUse,
  ViewDataset,
} from "../../core/lineage/port";
import { catalog } from "../../platform/permissions/grants";
import { sharedPort, teamPort } from "../port";
import { contentPartition, datasetPartition, readRow, viewPartition, viewRow } from "./lineage-rows";
import { catalogTable, ex, type Item, type Table } from "./table";

const putsAtOnce = 25;

/**
 * Stores a team's lineage in the Catalog table (docs/access-patterns.md, "Lineage").
 *
 * @param written the edges of logged runs that this process has written, for all teams, so that a change of a run does
 * not write them again
 */
export function createLineageIndex(table: Table, team: string, written: BoundedMap<string, true>): LineageIndex {
  async function put(items: readonly Item[]): Promise<void> {
    for (let at = 0; at < items.length; at += putsAtOnce) {
      const some = items.slice(at, at + putsAtOnce);
      await Promise.all(some.map((item) => table.put(item)));
    }
  }

  const under = (pk: string, prefix: string) => ex`pk = ${pk} AND begins_with(sk, ${prefix})`;
  const edges = async <Edge>(pk: string, prefix: string): Promise<readonly Edge[]> =>
    (await table.all(under(pk, prefix))).map((item) => item["edge"] as Edge);

  return {
    async noteContents(dataset, contents) {
      const { name, version, digest } = dataset;
      const byKey = new Map<string, Item>();
      const add = (item: Item): void => void byKey.set(`${item["pk"]} ${item["sk"]}`, item);
      for (const content of contents) {
        const { sha256, bytes: _, ...use } = content;
        const at = `${content.role}#${String(content.firstRow).padStart(12, "0")}`;
        const edge: ContentUse = { dataset: { name, version, digest }, ...use };
        add({ pk: contentPartition(team, sha256), sk: `DATASET#${name}#${digest}#${at}`, edge });
        // The version's own row lists its shards.
        if (content.role === "source")
          add({ pk: datasetPartition(team, dataset), sk: `SOURCE#${sha256}`, edge: content });
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

    usesOf: (sha256) => edges<ContentUse>(contentPartition(team, sha256), "DATASET#"),
    datasetsOfView: (view, page) =>
      table.page(under(viewPartition(team, view), "VERSION#"), page, (item) => item["edge"] as ViewDataset),
    sourcesOf: (dataset) => edges<DatasetContent>(datasetPartition(team, dataset), "SOURCE#"),
    modelsOf: (dataset) => edges<ModelUse>(datasetPartition(team, dataset), "MODEL#"),

    async runsOf(dataset, page) {
      const runs = under(datasetPartition(team, dataset), "RUN#");
      const { items, nextToken } = await table.page(runs, page, (item) => item["runId"] as string);
      return { items, nextToken };
    },
  };
}

/** Inputs that this process has recorded. */
const recordedInputs = sharedPort({ make: () => new BoundedMap<string, true>(10_000) });

export const lineage = teamPort({
  uses: { table: catalogTable(), recordedInputs: recordedInputs() },
  grants: { read: [catalog("Query")], write: [catalog("PutItem")] },
  make: ({ table, recordedInputs }, { team }) => createLineageIndex(table, team, recordedInputs),
});
