import type { TrainingTask } from "../../core/runs/training-task";
import type { Warning } from "../../core/shapes";
import { otherNumericsOf, restoreNewest } from "../checkpoint/restore";
import { identityOf } from "../checkpoint/state";
import { createReplica } from "../loop/replica";
import { ShardedReplica } from "../loop/sharded-replica";
import { unpackPoints } from "../telemetry/packed-points";
import type { TrainerDependencies } from "./dependencies";
import type { PreparedTraining } from "./prepare-training";

export type RestoredReplica = Awaited<ReturnType<typeof restoreReplica>>;

/** Creates this worker's replica, with the state of the newest usable checkpoint if there is one. */
export async function restoreReplica(
  { store, logger, telemetry }: TrainerDependencies,
  task: TrainingTask,
  { plan, model, layout, numerics, differentNumerics }: PreparedTraining,
) {
  const { runId } = task;
  const sharded = task.shardOptimizer ? new ShardedReplica(model, plan, layout) : undefined;
  const replica = sharded ?? createReplica(model, plan, layout);
  const identity = identityOf(plan, model);
  /** Reason by manifest key. */
  const unusable = new Map<string, string>();
  const restore = async () => {
    const manifest = await restoreNewest(replica, {
      store,
      runId,
      layout: model.layout,
      identity,
      numerics,
      allowOtherNumerics: task.allowOtherNumerics === true,
      startStep: task.startStep,
      onUnusable: (key, error) => {
        logger.log("error", "a checkpoint cannot be used; trying the previous one", { key, error });
        unusable.set(key, error instanceof Error ? error.message : String(error));
      },
    });
    const unsent = manifest?.unsentMetrics;
    if (unsent?.runId === runId) telemetry.resume(unpackPoints(unsent.series));
    return manifest;
  };
  const restored = await restore();
  const otherNumerics = [...new Set([...otherNumericsOf(restored, numerics), ...differentNumerics])].sort();
  if (otherNumerics.length > 0)
    logger.log("warn", "continuing with other numerics, as the task allows", { otherNumerics });
  return {
    replica,
    /** The same replica, if the optimizer is sharded. */
    sharded,
    identity,
    /** The checkpoint that it continues from. */
    restored,
    otherNumerics,
    /** Goes back to the newest usable checkpoint. @returns it */
    restore,
    /** Warns of checkpoints that could not be used so far. */
    warnings: () => damagedCheckpoints(unusable),
  };
}

/** @param unusable manifest keys of checkpoints, each with the reason */
function damagedCheckpoints(unusable: ReadonlyMap<string, string>): readonly Warning[] {
  if (unusable.size === 0) return [];
  const list = [...unusable].map(([key, error]) => `${key}: ${error}`).join("; ");
  const message = `training continued from an earlier checkpoint, because newer ones could not be used: ${list}`;
  return [{ code: "CHECKPOINT_DAMAGED", message }];
}
