import { createHash } from "node:crypto";
import type { Platform } from "../../../adapters/platform";
import { setLifecycle } from "../../../api/services/experiment-lifecycle";
import { takeInboxFile } from "../../../core/datasets/inbox/take-file";
import { objectKeys } from "../../../core/object-keys";
import { checkpointFormat } from "../../../core/training/checkpoint/manifest";
import { createTrigger } from "../../../core/triggers/lifecycle";
import { triggerDefinitionSchema } from "../../../core/triggers/trigger";
import { numerics, registerTestDataset, resultOf, runOf } from "../../support/fixtures";
import { createMeasuredMonitor } from "../../support/measured-monitor";
import { startStoredPipeline } from "../../support/stored-pipeline";
import { createStoredView } from "../../support/stored-view";
import { goodBodies } from "./good";
import type { Thing } from "./knowledge";
import { furnishModel } from "./world-model";

export const at = "2026-01-01T00:00:00.000Z";

/** Once: what jobs and bodies name by fixed names. */
export async function createWorld(platform: Platform): Promise<void> {
  await registerTestDataset(platform, "digits");
  await registerTestDataset(platform, "old");
  await platform.datasets.deprecate("old", 1, { at, reason: "labels were wrong" });
}

/**
 * Creates things of every kind, so that requests find what they name. Deleted, deprecated, ended and archived things are created again in the next round.
 * @param round tells one round's names from another's
 */
export async function furnish(platform: Platform, round: number): Promise<readonly Thing[]> {
  const content = await platform.objects.putContent("there");
  // A request may have deleted those that jobs and bodies name.
  for (const name of ["digits", "fuzzed"]) {
    const { experimentId } = await platform.experiments.ensure(name, "test", at);
    await setLifecycle(platform, experimentId, "active");
  }
  // Named by jobs: there is always a version that nobody has deprecated yet.
  await registerTestDataset(platform, "steady", 100 + round);
  const dataset = `data-${round}`;
  const draft = await registerTestDataset(platform, dataset);
  const trigger = `trigger-${round}`;
  const [template] = goodBodies["createTrigger"] as readonly object[];
  await createTrigger(platform, triggerDefinitionSchema.parse({ ...template, name: trigger }), { by: "test" });
  const monitor = await createMeasuredMonitor(platform, `monitor-${round}`, dataset);
  await createStoredView(platform, `view-${round}`);
  return [
    { dataset, datasetVersion: 1, draft },
    { trigger },
    { monitor, window: 1 },
    { view: `view-${round}` },
    await startStoredPipeline(platform, `pipeline-${round}`),
    { sha256: content.sha256 },
    { id: await refusedFile(platform, round) },
    ...(await furnishRuns(platform, round)),
    ...(await furnishModel(platform, round === 0 ? "gated" : `gated-${round}`)),
  ];
}

/** One queued with points and a checkpoint, one that has trained, and one that reproduced it with other weights. */
async function furnishRuns(platform: Platform, round: number): Promise<readonly Thing[]> {
  const { version, digest } = (await platform.datasets.findNewest("steady"))!.manifest;
  const of = { team: platform.team, dataset: { name: "steady", version, digest } };
  const [queued, trained, again] = ["queued", "trained", "again"].map((name) => `run-${name}-${round}`) as [
    string,
    string,
    string,
  ];
  await platform.runs.create(runOf(queued, of));
  await platform.runs.create(runOf(trained, of));
  await platform.runs.create(runOf(again, { ...of, reproducedFrom: trained }));
  await platform.metrics.append(queued, [
    { metric: "train/loss", steps: [1, 2, 3], values: [2, Number.NaN, Number.POSITIVE_INFINITY], times: [10, 20, 30] },
    { metric: "only-nan", steps: [1], values: [Number.NaN], times: [10] },
  ]);
  await putCheckpoint(platform, queued, 2);
  for (const [runId, weightsSha256] of [
    [trained, "a".repeat(64)],
    [again, "b".repeat(64)],
  ] as const) {
    await platform.metrics.append(runId, [
      { metric: "train/loss", steps: [1, 2], values: [2, runId === again ? 1 : 0.5], times: [10, 20] },
    ]);
    const output = { ...resultOf(runId), weightsSha256 };
    const record = { step: "LaunchTraining", inputHash: "i", output, startedAt: at, finishedAt: at } as const;
    await platform.runs.recordStep(runId, record);
    await platform.runs.close(runId, { status: "completed", at });
  }
  const { experimentId } = (await platform.records.find(queued))!;
  return [
    { runId: queued, experimentId, checkpointedRun: queued },
    { runId: trained, experimentId, trainedRun: trained },
    { runId: again, experimentId, trainedRun: again },
  ];
}

async function putCheckpoint(platform: Platform, runId: string, epoch: number): Promise<void> {
  const manifest = {
    format: checkpointFormat,
    runId,
    finishedSteps: 20,
    epoch,
    identity: { seed: 0, microBatches: 8, batchSize: 128, layout: "l", optimizer: "adam", gradientFormat: "float32" },
    numerics,
    weightsSha256: "a".repeat(64),
    tensors: [],
    epochScore: "",
    createdAt: at,
  };
  await platform.objects.put(objectKeys.checkpointManifest(runId, 20), JSON.stringify(manifest));
}

/** @returns the report's id */
async function refusedFile(platform: Platform, round: number): Promise<string> {
  const path = `no-such/file-${round}.csv`;
  await platform.objects.put(objectKeys.inbox(path), "a,b");
  const put = { path, etag: createHash("md5").update("a,b").digest("hex"), bytes: 3, sequencer: "1", at };
  const report = await takeInboxFile({ ...platform, snapshot: async () => undefined }, put);
  return report!.id;
}
