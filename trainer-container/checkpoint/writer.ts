import { objectKeys } from "../../core/object-keys";
import { type Clock, isoTime, type ObjectStore } from "../../core/ports";
import type { NumericsRecord } from "../../core/runs/shapes";
import type { MetricSeries } from "../../core/tracking/metric-store";
import {
  type CheckpointManifest,
  checkpointFormat,
  type TrainingIdentity,
} from "../../core/training/checkpoint/manifest";
import type { ParameterSlot } from "../engine/engine";
import { packPoints } from "../telemetry/packed-points";
import type { StoredState } from "./state-files";

export interface CheckpointHeader {
  readonly finishedSteps: number;
  readonly epoch: number;
  readonly epochScore: Float64Array;
  readonly bestEpoch?: Float64Array;
  readonly validation?: CheckpointManifest["validation"];
}

export interface CheckpointWriterOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly runId: string;
  readonly layout: readonly ParameterSlot[];
  readonly identity: TrainingIdentity;
  readonly numerics: NumericsRecord;
  /** Fields in which other machines that computed steps of the run differed from this one. */
  readonly otherNumerics?: readonly string[];
  /** Returns unsent points up to a step. They must outlive this process, because the steps before a checkpoint are not repeated. */
  readonly unsentMetrics?: (finishedSteps: number) => readonly MetricSeries[];
}

/** Writes the manifest after the tensors are stored, which makes the checkpoint visible. A crash before leaves older ones. */
export async function writeCheckpoint(
  { store, clock, runId, identity, numerics, otherNumerics = [], unsentMetrics }: CheckpointWriterOptions,
  { tensors, weightsSha256 }: StoredState,
  header: CheckpointHeader,
): Promise<CheckpointManifest> {
  const { finishedSteps, epoch, epochScore, bestEpoch, validation } = header;
  const unsent = unsentMetrics?.(finishedSteps) ?? [];
  const manifest: CheckpointManifest = {
    format: checkpointFormat,
    runId,
    finishedSteps,
    epoch,
    identity,
    numerics,
    ...(otherNumerics.length === 0 ? {} : { otherNumerics }),
    weightsSha256,
    ...(validation === undefined ? {} : { validation }),
    tensors,
    epochScore: packed(epochScore),
    ...(bestEpoch ? { bestEpoch: packed(bestEpoch) } : {}),
    ...(unsent.length === 0 ? {} : { unsentMetrics: { runId, series: packPoints(unsent) } }),
    createdAt: isoTime(clock),
  };
  await store.put(
    objectKeys.checkpointManifest(runId, finishedSteps),
    JSON.stringify(manifest, null, 2),
    "application/json",
  );
  return manifest;
}

function packed({ buffer, byteOffset, byteLength }: Float64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
