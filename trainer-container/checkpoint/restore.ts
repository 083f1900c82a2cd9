import { CorruptObjectError, ObjectNotFoundError } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import { numericsDifferences } from "../../core/runs/numerics";
import type { NumericsRecord } from "../../core/runs/shapes";
import { decodeSafetensors } from "../../core/safetensors";
import {
  type CheckpointManifest,
  findCheckpointManifest,
  identityDifferences,
  manifestKeys,
  type TrainingIdentity,
} from "../../core/training/checkpoint/manifest";
import type { ParameterSlot } from "../engine/engine";
import { TrainingHaltedError } from "../loop/errors";
import type { Replica } from "../loop/replica";
import type { KeptCheckpoint } from "./policy";
import { stateBuffers } from "./state";
import { digestOfFile, fileOf, readLive } from "./state-files";
import { ownTensors } from "./tensor-places";

/** Number of listings if checkpoints expire before they are read. */
const listAttempts = 3;

export interface RestoreOptions {
  readonly store: ObjectStore;
  readonly runId: string;
  readonly layout: readonly ParameterSlot[];
  readonly identity: TrainingIdentity;
  readonly numerics: NumericsRecord;
  /** Continue with other numerics than the checkpoint's: the weights then differ from those of an undisturbed run. */
  readonly allowOtherNumerics: boolean;
  /** The training begins with a checkpoint at this step. Without any checkpoint it must not begin. */
  readonly startStep?: number;
  /** Called for a checkpoint that cannot be used; the previous one is tried next. */
  readonly onUnusable: (key: string, error: unknown) => void;
}

/**
 * Fills the replica from the newest intact checkpoint, for any world size. Training never restarts at step 0 by itself.
 * @returns its manifest; undefined if the run has no checkpoint yet
 * @throws TrainingHaltedError `NUMERICS_DIFFER` or `CHECKPOINT_MISMATCH`: of another training; `CORRUPT_OBJECT`: none
 * can be used
 */
export async function restoreNewest(
  replica: Replica,
  options: RestoreOptions,
  attempt = 1,
): Promise<CheckpointManifest | undefined> {
  const { store, runId, startStep, onUnusable } = options;
  const unusable: string[] = [];
  const keys = await manifestKeys(store, runId);
  for (const key of keys.toReversed()) {
    try {
      const manifest = await findCheckpointManifest(store, key);
      if (manifest === undefined && attempt < listAttempts) continue; // expired since it was listed
      if (manifest === undefined) throw new ObjectNotFoundError(key);
      refuseOthers(manifest, options);
      await fill(replica, manifest, key, options);
      return manifest;
    } catch (error) {
      if (error instanceof TrainingHaltedError || isUnreachable(error)) throw error;
      unusable.push(error instanceof Error ? error.message : String(error));
      onUnusable(key, error);
    }
  }
  // Checkpoints expire only once newer ones are there.
  if (keys.length > 0 && unusable.length === 0) return restoreNewest(replica, options, attempt + 1);
  if (unusable.length > 0) {
    throw new TrainingHaltedError(
      "CORRUPT_OBJECT",
      `run ${runId} has ${unusable.length} checkpoints and none can be used, newest first: ${unusable.join("; ")}. ` +
        "Store the damaged objects again from a backup, or submit a new run to begin at step 0.",
    );
  }
  if (startStep !== undefined) {
    const key = objectKeys.checkpointManifest(runId, startStep);
    throw new TrainingHaltedError(
      "CORRUPT_OBJECT",
      `run ${runId} begins with a checkpoint at step ${startStep}, but its manifest ${key} is missing. Restore the checkpoint again.`,
    );
  }
  replica.reset();
  return undefined;
}

export interface VisibleCheckpoint extends KeptCheckpoint {
  /** Keys of its tensors that the run itself has stored. */
  readonly tensors: readonly string[];
}

/** Lists the readable checkpoints, oldest first. A damaged one must not displace another. `known` caches what was read. */
export async function listCheckpoints(
  store: ObjectStore,
  runId: string,
  known: Map<number, VisibleCheckpoint> = new Map(),
): Promise<readonly VisibleCheckpoint[]> {
  const prefix = objectKeys.checkpointPrefix(runId);
  const visible: VisibleCheckpoint[] = [];
  for (const key of await store.list(prefix)) {
    const finishedSteps = Number(key.slice(prefix.length).split("/")[0]);
    if (!Number.isSafeInteger(finishedSteps)) continue;
    const checkpoint = known.get(finishedSteps) ?? (await readKept(store, key));
    if (checkpoint === undefined) continue;
    known.set(finishedSteps, checkpoint);
    visible.push(checkpoint);
  }
  return visible;
}

export function findKept(
  store: ObjectStore,
  runId: string,
  finishedSteps: number,
): Promise<VisibleCheckpoint | undefined> {
  return readKept(store, objectKeys.checkpointManifest(runId, finishedSteps));
}

export function visibleOf(manifest: CheckpointManifest): VisibleCheckpoint {
  const { runId, finishedSteps, epoch, bestEpoch, validation } = manifest;
  const isEnd = typeof validation?.loss === "number";
  const numbers = Buffer.from(bestEpoch ?? "", "base64");
  return {
    finishedSteps,
    ...(isEnd ? { validationLoss: validation.loss } : {}),
    ...(numbers.length < 8 ? {} : { endsBestEpoch: isEnd && numbers.readDoubleLE() === epoch }),
    tensors: ownTensors(runId, manifest),
  };
}

async function readKept(store: ObjectStore, key: string): Promise<VisibleCheckpoint | undefined> {
  try {
    const manifest = await findCheckpointManifest(store, key);
    return manifest && visibleOf(manifest);
  } catch (error) {
    if (error instanceof CorruptObjectError) return undefined;
    throw error;
  }
}

/** Returns the fields in which this machine differs from those that computed a checkpoint's steps. */
export function otherNumericsOf(manifest: CheckpointManifest | undefined, mine: NumericsRecord): readonly string[] {
  if (!manifest) return [];
  const differences = numericsDifferences(manifest.numerics, mine).map(({ field }) => field);
  return [...new Set([...(manifest.otherNumerics ?? []), ...differences])].sort();
}

function refuseOthers(manifest: CheckpointManifest, { identity, numerics, allowOtherNumerics }: RestoreOptions): void {
  const { finishedSteps } = manifest;
  const others = identityDifferences(manifest.identity, identity);
  if (others.length > 0) {
    throw new TrainingHaltedError(
      "CHECKPOINT_MISMATCH",
      `the checkpoint at step ${finishedSteps} is of another training: ${others.join("; ")}. Submit a new run.`,
      finishedSteps,
    );
  }
  const differences = numericsDifferences(manifest.numerics, numerics);
  if (differences.length === 0 || allowOtherNumerics) return;
  const list = differences.map(({ field, left, right }) => `${field} was ${left} and is ${right}`).join("; ");
  throw new TrainingHaltedError(
    "NUMERICS_DIFFER",
    `the checkpoint at step ${finishedSteps} was computed with other numerics, so going on would give other weights than an ` +
      `undisturbed run: ${list}. Run on the same kind of machine, or allow other numerics in the task.`,
    finishedSteps,
  );
}

async function fill(
  replica: Replica,
  manifest: CheckpointManifest,
  key: string,
  { store, layout }: RestoreOptions,
): Promise<void> {
  for (const buffer of stateBuffers(replica, layout)) {
    const groups = manifest.tensors.filter((group) => group.buffer === buffer.name);
    const missing = new Map(buffer.groups.flat().map((slot) => [slot.name, slot]));
    for (const group of groups) {
      const { tensors } = decodeSafetensors(await store.getContent(group.sha256, group.key));
      for (const [name, { data }] of Object.entries(tensors)) {
        const slot = missing.get(name);
        if (slot === undefined || slot.size !== data.length || !(data instanceof Float32Array)) {
          throw new CorruptObjectError(key, `tensor ${name} as in the model`, `another, in ${buffer.name}`);
        }
        buffer.values.set(data, slot.offset);
        missing.delete(name);
      }
    }
    if (missing.size > 0) {
      throw new CorruptObjectError(
        key,
        `all parameters in ${buffer.name}`,
        `without ${[...missing.keys()].join(", ")}`,
      );
    }
  }
  const digest = await digestOfFile(fileOf("weights", layout), readLive([replica.weights]));
  if (digest !== manifest.weightsSha256) {
    throw new CorruptObjectError(key, `weights of SHA-256 ${manifest.weightsSha256}`, digest);
  }
  unpack(manifest.epochScore, replica.epochScore, key, "epochScore");
  if (replica.best) unpack(manifest.bestEpoch ?? "", replica.best.numbers, key, "bestEpoch");
  replica.finishedSteps = manifest.finishedSteps;
}

/** @throws CorruptObjectError if the numbers are not as many as the replica's */
function unpack(text: string, into: Float64Array, key: string, field: string): void {
  const bytes = Buffer.from(text, "base64");
  if (bytes.byteLength !== into.byteLength)
    throw new CorruptObjectError(key, `${into.byteLength} bytes of ${field}`, `${bytes.byteLength}`);
  new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
}

/** Whether a failure says nothing about the checkpoint: no answer, or a failure of the store. An older one would lose steps. */
function isUnreachable(error: unknown): boolean {
  const metadata = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata;
  return metadata !== undefined && (metadata.httpStatusCode ?? 500) >= 500;
}
