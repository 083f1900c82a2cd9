import { getDatasetVersion } from "../datasets/reference";
import type { DatasetRepository } from "../datasets/repository";
import { RingmasterError } from "../errors";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import { addDataset, addShards, addSources, addUses, type ForwardDependencies, type LineagePage } from "./of-dataset";
import { LineageBuilder, type LineageGraph } from "./shapes";

/**
 * Returns the lineage of a dataset version: upstream its files and shards, downstream the runs and models that used it.
 */
export async function lineageOfDataset(
  dependencies: ForwardDependencies & { readonly datasets: DatasetRepository },
  name: string,
  version: number,
  page: LineagePage,
): Promise<LineageGraph> {
  const found = await getDatasetVersion(dependencies.datasets, name, version);
  const { manifest } = found;
  const graph = new LineageBuilder();
  const root = addDataset(graph, manifest, found);
  if (page.nextToken === undefined) {
    await addSources(graph, dependencies.lineage, manifest, root);
    addShards(graph, manifest, root);
  }
  return graph.finish(root, await addUses(graph, dependencies, manifest, root, page));
}

/**
 * Returns the lineage of a content by its SHA-256: a raw file, whether it is in the store or not, or a shard. It shows
 * every version that holds the content and what used these versions. For each version it shows only the first runs; the
 * version's own lineage has the others.
 *
 * @throws RingmasterError CONTENT_NOT_FOUND if nothing is known of it
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
