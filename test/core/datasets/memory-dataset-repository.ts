import { datasetChanged } from "../../../core/datasets/errors";
import type { DatasetRepository, Page } from "../../../core/datasets/repository";
import type { DatasetVersion } from "../../../core/datasets/shapes";

/** A `DatasetRepository` for tests; passes the port's contract suite. */
export function createMemoryDatasetRepository(team = "red"): DatasetRepository {
  const versions = new Map<string, DatasetVersion[]>();
  const of = (name: string): DatasetVersion[] => versions.get(name) ?? [];
  const newestFirst = (name: string): DatasetVersion[] => [...of(name)].reverse();

  function page<Item>(items: readonly Item[], limit: number, token = "0"): Page<Item> {
    const end = Number(token) + limit;
    return { items: items.slice(Number(token), end), ...(end < items.length ? { nextToken: String(end) } : {}) };
  }

  return {
    async register(draft, { at, by }) {
      const known = of(draft.name).find(({ manifest }) => manifest.digest === draft.digest);
      if (known) return { created: false, version: known };
      const newest = of(draft.name).length;
      if (draft.parent && draft.parent.version !== newest) {
        throw datasetChanged(draft.name, draft.parent.version, newest);
      }
      const version = {
        manifest: { ...draft, version: of(draft.name).length + 1, createdAt: at },
        team,
        ...(by && { createdBy: by }),
      };
      versions.set(draft.name, [...of(draft.name), version]);
      return { created: true, version };
    },
    find: async (name, version) => of(name)[version - 1],
    findByDigest: async (name, digest) => of(name).find(({ manifest }) => manifest.digest === digest),
    findNewest: async (name) => of(name).at(-1),
    findActive: async (name) => newestFirst(name).find(({ deprecation }) => deprecation === undefined),
    listVersions: async ({ name, limit, nextToken }) => page(newestFirst(name), limit, nextToken),
    async list({ limit, nextToken }) {
      const newest = [...versions.values()].map((all) => all.at(-1)!);
      const summaries = newest.map(({ manifest, createdBy }) => ({
        name: manifest.name,
        latestVersion: manifest.version,
        rowCount: manifest.rowCount,
        bytes: manifest.bytes,
        updatedAt: manifest.createdAt,
        ...(createdBy && { updatedBy: createdBy }),
      }));
      return page(
        summaries.sort((a, b) => (a.name < b.name ? -1 : 1)),
        limit,
        nextToken,
      );
    },
    async recordWarnings(name, version, warnings) {
      const found = of(name)[version - 1];
      if (found) of(name)[version - 1] = { ...found, warnings };
    },
    async deprecate(name, version, deprecation) {
      const found = of(name)[version - 1];
      if (found === undefined) return false;
      of(name)[version - 1] = { ...found, deprecation: found.deprecation ?? deprecation };
      return true;
    },
  };
}
