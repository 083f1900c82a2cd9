import { type DatasetRepository, getDatasetVersion } from "../../core/datasets/repository";
import { featuresKind } from "../../core/features/shapes";
import type { LineageIndex } from "../../core/lineage/port";
import type { ModelVersion } from "../../core/registry/model";
import type { RunRepository } from "../../core/runs/run-repository";
import { findOutput } from "../../core/runs/step";
import type { RunRecords } from "../../core/tracking/run-records";
import type { DatasetInput, RunRecord } from "../../core/tracking/shapes";
import { addDataset, addRun, addShards, addSources } from "./of-dataset";
import { LineageBuilder, type LineageGraph } from "./shapes";

interface BackwardDependencies {
  readonly lineage: LineageIndex;
  readonly datasets: DatasetRepository;
  readonly records: Pick<RunRecords, "find">;
  readonly runs: Pick<RunRepository, "findDetails">;
}

/** Returns the upstream lineage of a model version, down to the raw files and their rows. */
export async function lineageOfVersion(
  dependencies: BackwardDependencies,
  version: ModelVersion,
): Promise<LineageGraph> {
  const graph = new LineageBuilder();
  const { model, stage, weightsSha256, source, runId } = version;
  const root = graph.add("model-version", `${model}@${version.version}`, {
    model,
    version: version.version,
    stage,
    weightsSha256,
    source,
    createdAt: version.createdAt,
  });
  const run = runId === undefined ? undefined : await addOrigin(graph, dependencies, runId, maxGenerations);
  if (run !== undefined) graph.connect(run, root);
  else if (version.dataset) await addInput(graph, dependencies, version.dataset, root);
  return graph.finish(root);
}

/** Maximum number of runs whose weights began one with the other's. */
const maxGenerations = 20;

/** Adds a run with its code, data and origin of weights. @returns its node; `undefined` if there is no such run */
async function addOrigin(
  graph: LineageBuilder,
  dependencies: BackwardDependencies,
  runId: string,
  generations: number,
): Promise<string | undefined> {
  const record = await dependencies.records.find(runId);
  if (!record) return undefined;
  const run = addRun(graph, runId, record);
  addCode(graph, record, run);
  const details = record.source === "training" ? await dependencies.runs.findDetails(runId) : undefined;
  const features = details && findOutput(details, featuresKind);
  const featuresNode =
    features && graph.add("features", features.digest, { key: features.featureManifestKey, width: features.width });
  if (featuresNode) graph.connect(featuresNode, run);
  // The run's own inputs became its features. Inputs that people added are attached only to the run.
  for (const [index, input] of record.datasets.entries())
    await addInput(graph, dependencies, input, index === 0 && featuresNode ? featuresNode : run);
  const { fineTunedFrom, restoredFrom } = details?.run ?? {};
  const origin = fineTunedFrom?.runId ?? restoredFrom?.runId;
  if (origin === undefined) return run;
  const earlier = generations > 1 ? await addOrigin(graph, dependencies, origin, generations - 1) : undefined;
  const source = earlier ?? graph.add("run", origin);
  const { model, version } = fineTunedFrom ?? {};
  if (model === undefined) graph.connect(source, run);
  else {
    const node = graph.add("model-version", `${model}@${version}`, { model, version });
    graph.connect(source, node);
    graph.connect(node, run);
  }
  return run;
}

function addCode(graph: LineageBuilder, { code }: RunRecord, run: string): void {
  const { moduleSha256, commit, dirty, repository, branch, diffSha256 } = code;
  const name = moduleSha256 ?? commit;
  if (name === undefined) return;
  graph.connect(graph.add("code", name, { moduleSha256, commit, dirty, repository, branch, diffSha256 }), run);
}

/** Adds a dataset: with its whole lineage if it is registered here, else with what the client recorded. */
async function addInput(
  graph: LineageBuilder,
  { lineage, datasets }: BackwardDependencies,
  { name, digest, version, source }: Pick<DatasetInput, "name" | "digest" | "version"> & { readonly source?: string },
  to: string,
): Promise<void> {
  if (version === undefined) {
    graph.connect(graph.add("dataset", `${name}#${digest}`, { digest, source }), to);
    return;
  }
  const row = await getDatasetVersion(datasets, name, version);
  const { manifest } = row;
  const node = addDataset(graph, { name, version, digest: manifest.digest }, row);
  graph.connect(node, to);
  addShards(graph, manifest, node);
  await addSources(graph, lineage, manifest, node);
}
