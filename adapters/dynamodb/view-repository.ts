import { BoundedMap } from "../../core/bounded-map";
import type { ViewRepository } from "../../core/feature-store/ports";
import type { ViewSummary, ViewVersion } from "../../core/feature-store/shapes";
import type { Clock } from "../../core/ports";
import { catalog, queryIndex } from "../../platform/permissions/grants";
import { teamPort } from "../port";
import { absent, catalogTable, ex, type Item, type Table } from "./table";

/** The maximum age of a version that `findRecent` returns. */
const maxAgeMs = 5_000;
const maxCached = 500;

/** Stores a team's feature views in the Catalog table (docs/access-patterns.md, "Feature store"). */
export function createViewRepository(table: Table, team: string, clock: Clock): ViewRepository {
  const pk = (name: string): string => `TEAM#${team}#VIEW#${name}`;
  const versionKey = (name: string, version: number) => ({
    pk: pk(name),
    sk: `VERSION#${String(version).padStart(9, "0")}`,
  });
  const listed = `TEAM#${team}#VIEWS`;
  const versionOf = (item: Item) => item["record"] as ViewVersion;

  // A version never changes.
  const versions = new BoundedMap<string, ViewVersion>(maxCached);
  const recent = new BoundedMap<string, { readonly at: number; readonly version: ViewVersion }>(maxCached);

  async function find(name: string, version: number): Promise<ViewVersion | undefined> {
    const key = `${name}@${version}`;
    const known = versions.get(key);
    if (known) return known;
    const item = await table.get(versionKey(name, version));
    if (item) versions.set(key, versionOf(item));
    return versions.get(key);
  }

  async function findNewest(name: string): Promise<ViewVersion | undefined> {
    const head = await table.get({ pk: pk(name), sk: "HEAD" });
    return head && find(name, head["latest"] as number);
  }

  return {
    find,

    async findByDigest(name, digest) {
      const pointer = await table.get({ pk: pk(name), sk: `DIGEST#${digest}` });
      return pointer && find(name, pointer["version"] as number);
    },

    findNewest,

    async findRecent(name) {
      const known = recent.get(name);
      if (known && clock.now() - known.at < maxAgeMs) return known.version;
      const version = await findNewest(name);
      if (version) recent.set(name, { at: clock.now(), version });
      return version;
    },

    register(version) {
      const { name, digest, definition, features, createdAt } = version;
      const { owner, description, entities } = definition;
      const summary: ViewSummary = {
        ...{ name, latestVersion: version.version, owner, description, entities },
        ...{ features: features.map((one) => one.name), updatedAt: createdAt },
      };
      const head = { pk: pk(name), sk: "HEAD", gsi1pk: listed, gsi1sk: name, latest: version.version, record: summary };
      return table.tryTransact([
        table.putting({ ...versionKey(name, version.version), record: version }, absent),
        table.putting({ pk: pk(name), sk: `DIGEST#${digest}`, version: version.version }, absent),
        table.putting(head, version.version === 1 ? absent : ex`latest = ${version.version - 1}`),
      ]);
    },

    list: (page) =>
      table.page(ex`gsi1pk = ${listed}`, { ...page, index: "gsi1" }, (item) => item["record"] as ViewSummary),

    listVersions: (name, page) =>
      table.page(
        ex`pk = ${pk(name)} AND begins_with(sk, ${"VERSION#"})`,
        { ...page, descending: true, consistent: false },
        versionOf,
      ),
  };
}

export const featureViews = teamPort({
  uses: { table: catalogTable() },
  grants: {
    read: [catalog("GetItem")],
    list: [catalog("Query"), queryIndex("Catalog", "gsi1")],
    register: [catalog("PutItem")],
  },
  make: ({ table }, { team, clock }) => createViewRepository(table, team, clock),
});
