import { inRounds } from "../../core/backoff";
import { datasetBusy, datasetChanged } from "../../core/datasets/errors";
import type { DatasetRepository } from "../../core/datasets/repository";
import type { DatasetDraft, DatasetManifest, DatasetSummary, DatasetVersion } from "../../core/datasets/shapes";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { pauseBeforeRound } from "./client";
import { absent, ex, exists, type Item, type Table, teamCatalogPort } from "./table";

/** The maximum number of rounds. A round fails only if another registration succeeded in the meantime. */
const rounds = 32;
const versionKey = (version: number): string => `VERSION#${String(version).padStart(9, "0")}`;

/** A version's row contains its whole manifest: 400 KB hold about 4,000 shards, or half a terabyte. */
export function createDatasetRepository(table: Table, team: string): DatasetRepository {
  const partition = (name: string): string => `TEAM#${team}#DATASET#${name}`;
  const keyOf = (name: string, version: number) => ({ pk: partition(name), sk: versionKey(version) });

  const read = (name: string, sk: string): Promise<Item | undefined> => table.get({ pk: partition(name), sk });

  async function find(name: string, version: number): Promise<DatasetVersion | undefined> {
    const item = await read(name, versionKey(version));
    return item && versionOf(item);
  }

  async function findByDigest(name: string, digest: string): Promise<DatasetVersion | undefined> {
    const pointer = await read(name, `DIGEST#${digest}`);
    return pointer && find(name, pointer["version"] as number);
  }

  async function newestOf(name: string): Promise<number> {
    return ((await read(name, "HEAD"))?.["latest"] as number | undefined) ?? 0;
  }

  const versionsOf = (name: string) => ex`pk = ${partition(name)} AND begins_with(sk, ${"VERSION#"})`;

  /** Returns false if another registration was first. The rows then show the next version number. */
  async function tryRegister(manifest: DatasetManifest, by: string | undefined): Promise<boolean> {
    const { name, version, digest, rowCount, bytes, createdAt } = manifest;
    const head = {
      pk: partition(name),
      sk: "HEAD",
      gsi1pk: `TEAM#${team}#DATASETS`,
      gsi1sk: name,
      latest: version,
      rowCount,
      bytes,
      updatedAt: createdAt,
      updatedBy: by,
    };
    return table.tryTransact([
      table.putting({ ...keyOf(name, version), team, manifest, createdBy: by }, absent),
      table.putting({ pk: partition(name), sk: `DIGEST#${digest}`, version }, absent),
      table.putting(head, version === 1 ? absent : ex`latest = ${version - 1}`),
    ]);
  }

  return {
    find,
    findByDigest,

    async register(draft: DatasetDraft, { at, by }) {
      const busy = () => datasetBusy(draft.name, rounds);
      return inRounds({ rounds, pause: pauseBeforeRound, busy }, async () => {
        const existingVersion = await findByDigest(draft.name, draft.digest);
        if (existingVersion) return { created: false, version: existingVersion };
        const newest = await newestOf(draft.name);
        if (draft.parent && draft.parent.version !== newest) {
          throw datasetChanged(draft.name, draft.parent.version, newest);
        }
        const version = newest + 1;
        const manifest: DatasetManifest = { ...draft, version, createdAt: at };
        if (await tryRegister(manifest, by)) {
          return { created: true, version: { manifest, team, createdBy: by } };
        }
        return undefined;
      });
    },

    async findNewest(name) {
      const version = await newestOf(name);
      return version === 0 ? undefined : find(name, version);
    },

    async findActive(name) {
      const options = { filter: ex`attribute_not_exists(deprecation)`, descending: true, limit: 8 };
      let start: Item | undefined;
      do {
        const page = await table.read(versionsOf(name), options, start);
        const [newest] = page.items;
        if (newest) return versionOf(newest);
        start = page.last;
      } while (start);
      return undefined;
    },

    listVersions: ({ name, ...page }) =>
      table.page(versionsOf(name), { ...page, descending: true, consistent: false }, versionOf),

    list: (page) => table.page(ex`gsi1pk = ${`TEAM#${team}#DATASETS`}`, { ...page, index: "gsi1" }, summaryOf),

    async recordWarnings(name, version, warnings) {
      await table.update(keyOf(name, version), ex`SET warnings = ${warnings}`, exists);
    },

    deprecate(name, version, deprecation) {
      const change = ex`SET deprecation = if_not_exists(deprecation, ${deprecation})`;
      return table.update(keyOf(name, version), change, exists);
    },
  };
}

function versionOf(item: Item): DatasetVersion {
  return {
    manifest: item["manifest"] as DatasetManifest,
    team: item["team"] as string,
    createdBy: item["createdBy"] as string | undefined,
    warnings: item["warnings"] as DatasetVersion["warnings"] | undefined,
    deprecation: item["deprecation"] as DatasetVersion["deprecation"] | undefined,
  };
}

function summaryOf(item: Item): DatasetSummary {
  return {
    name: item["gsi1sk"] as string,
    latestVersion: item["latest"] as number,
    rowCount: item["rowCount"] as number,
    bytes: item["bytes"] as number,
    updatedAt: item["updatedAt"] as string,
    updatedBy: item["updatedBy"] as string | undefined,
  };
}

export const datasets = teamCatalogPort(createDatasetRepository, {
  read: [catalog("GetItem")],
  resolve: [catalog("Query")],
  list: [catalog("Query"), queryIndex("Catalog", "gsi1")],
  register: [catalog("GetItem", "PutItem")],
  annotate: [catalog("UpdateItem")],
});
