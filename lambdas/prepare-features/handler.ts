import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { stepCache } from "../../adapters/dynamodb/step-cache";
import { teamObjects } from "../../adapters/s3/object-store";
import { runSteps } from "../../adapters/team-runs";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { shardGroups } from "../../core/datasets/shard-plan";
import { readSplits, splitOfRange } from "../../core/datasets/split-index";
import { type FeatureSettings, materializeFeatures } from "../../core/features/materialize";
import type { FeaturesOutput } from "../../core/features/shapes";
import { featuresStep } from "../../core/features/step";
import type { ObjectStore } from "../../core/ports";
import { inOneProcess, type RoundTask, storedRounds } from "../../core/runs/rounds";
import { runStep } from "../../core/runs/step";
import { inRounds, stepHandler } from "../step-handler";

/**
 * Materialises the features of a dataset version; see `materializeFeatures`.
 *
 * @param input.task the part that this call computes, of a version of several groups
 * @throws RoundPending, TaskDone
 */
export function prepareFeatures(input: {
  readonly manifest: DatasetManifest;
  readonly job: FeatureSettings;
  readonly objects: ObjectStore;
  readonly inputHash: string;
  readonly task?: RoundTask | undefined;
  readonly shardBytes?: number;
  /** Size of a group; for tests. */
  readonly groupBytes?: number;
}): Promise<FeaturesOutput> {
  const { manifest, job: settings, objects, inputHash, task, shardBytes } = input;
  const groups = shardGroups(manifest, input.groupBytes);
  const whole = groups.length <= 1;
  const rounds = whole ? inOneProcess : storedRounds(objects, inputHash, task);
  return withDuckDb(async (session) => {
    const splits = whole ? await readSplits(manifest, objects) : undefined;
    const output = await materializeFeatures({
      ...{ manifest, settings, groups, rounds, objects, inputHash, shardBytes },
      open: async (group) => ({
        rows: createShardSource(session, objects, group),
        splitOf: splits ?? (await splitOfRange(manifest, objects, group.firstRow, group.rows)),
      }),
    });
    await rounds.clear();
    return output;
  });
}

export const handler = stepHandler(
  {
    runs: runSteps("use"),
    cache: stepCache("read", "write"),
    datasets: datasets("read"),
    objects: teamObjects("read", "write"),
  },
  (ports, { runId, task }) =>
    inRounds(async () => {
      const { objects } = ports;
      const step = featuresStep(ports, (manifest, job, inputHash) =>
        prepareFeatures({ manifest, job, objects, inputHash, task }),
      );
      const { output, reusedFrom } = await runStep(ports, runId, step);
      return { rows: output.rows, reusedFrom };
    }),
);
