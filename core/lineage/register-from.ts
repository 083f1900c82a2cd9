import { maxDraftVersions, mayCorrectColumns, type RegisterDependencies, registerDataset } from "../datasets/register";
import type { DatasetDraft, DatasetManifest, DatasetVersion, SourceFile } from "../datasets/shapes";
import { InvalidInputError } from "../errors";
import { viewsOfColumns } from "../feature-store/view-columns";
import type { DatasetContent, LineageIndex } from "./port";

/**
 * Registers a version and records which files and shards hold which of its rows. If a client dies in between, its
 * repeated push finds the version and completes the rest. A file that yields an existing version becomes one more
 * source of it.
 * @throws the errors of `registerDataset`; InvalidInputError if the files' rows are not those of the version
 */
export async function registerFrom(
  {
    lineage,
    ...dependencies
  }: RegisterDependencies & { readonly lineage: Pick<LineageIndex, "noteContents" | "noteViews" | "runsOf"> },
  draft: DatasetDraft,
  options: { readonly allowSchemaChange?: boolean; readonly sources: readonly SourceFile[]; readonly actor?: string },
): Promise<{ readonly created: boolean; readonly version: DatasetVersion }> {
  const { sources, allowSchemaChange, actor } = options;
  const rows = sources.reduce((sum, source) => sum + source.rows, 0);
  const before = draft.parent?.rows ?? 0;
  if (sources.length > 0 && rows !== draft.rowCount - before) {
    const rule = `must add up to the ${draft.rowCount - before} rows of the version${before > 0 ? " that follow its parent's" : ""}`;
    throw new InvalidInputError("the dataset's sources", [{ path: "sources", value: rows, rule }]);
  }
  const mayChange = async (): Promise<boolean> => {
    if (allowSchemaChange) return true;
    const { items } = await dependencies.repository.listVersions({ name: draft.name, limit: maxDraftVersions + 1 });
    return mayCorrectColumns(items, async ({ manifest }) => {
      return (await lineage.runsOf(manifest, { limit: 1 })).items.length > 0;
    });
  };
  const registered = await registerDataset(dependencies, draft, { allowSchemaChange: mayChange, actor });
  const { manifest } = registered.version;
  const { name, version, digest } = manifest;
  await lineage.noteContents({ name, version, digest }, [...sourcesOf(sources, before), ...shardsOf(manifest)]);
  await lineage.noteViews({ name, version, digest }, [...viewsOfColumns(manifest.schema).keys()]);
  return registered;
}

/** @param firstRow number of the first row that is not the parent's */
function sourcesOf(sources: readonly SourceFile[], firstRow: number): readonly DatasetContent[] {
  return placed(
    sources.map((source) => ({ ...source, role: "source" })),
    firstRow,
  );
}

export function shardsOf({ shards }: Pick<DatasetManifest, "shards">): readonly DatasetContent[] {
  return placed(shards.map(({ sha256, bytes, rows }) => ({ sha256, bytes, rows, role: "shard" })));
}

function placed(contents: readonly Omit<DatasetContent, "firstRow">[], first = 0): readonly DatasetContent[] {
  let next = first;
  return contents.map((content) => {
    const firstRow = next;
    next += content.rows;
    return { ...content, firstRow };
  });
}
