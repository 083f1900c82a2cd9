import { CorruptObjectError } from "../../core/object-errors";
import { objectKeys } from "../../core/platform/object-keys";
import type { ObjectStore } from "../../core/ports";
import {
  type CheckpointManifest,
  identityDifferences,
  parseCheckpointManifest,
  type TrainingIdentity,
} from "../../core/training/checkpoint/manifest";
import type { KeptCheckpoint } from "../../core/training/checkpoint/policy";
import { type NumericsRecord, numericsDifferences } from "../../core/training/numerics";
import { decodeSafetensors } from "../../core/training/safetensors";
import type { ParameterSlot } from "../engine/engine";
import { TrainingHaltedError } from "../loop/errors";
import type { Replica } from "../loop/replica";
import { stateBuffers } from "./state";
import { digestOfFile, fileOf, readLive } from "./state-files";

export interface RestoreOptions {
  readonly store: ObjectStore;
  readonly runId: string;
  readonly layout: readonly ParameterSlot[];
  readonly identity: TrainingIdentity;
  readonly numerics: NumericsRecord;
  /** Go on with other numerics than the checkpoint's: the weights are then not those of an undisturbed run. */
  readonly allowOtherNumerics: boolean;
  /** A checkpoint that cannot be used; the one before it is tried. */
  readonly onUnusable: (key: string, error: unknown) => void;
}

/**
 * Fills the replica from the newest checkpoint whose digests hold, on any world size.
 *
 * @returns its manifest; undefined where there is none, with the replica at step 0.
 * @throws TrainingHaltedError `NUMERICS_DIFFER` or `CHECKPOINT_MISMATCH`: a checkpoint of another training is no ground to go on from.
 */
export async function restoreNewest(
  replica: Replica,
  options: RestoreOptions,
): Promise<CheckpointManifest | undefined> {
  const { store, runId, onUnusable } = options;
  const keys = (await store.list(objectKeys.checkpointPrefix(runId))).filter((key) => key.endsWith("/manifest.json"));
  for (const key of keys.toReversed()) {
    try {
      const manifest = await readManifest(store, key);
      if (manifest === undefined) continue; // expired since it was listed
      refuseOthers(manifest, options);
      await fill(replica, manifest, key, options);
      return manifest;
    } catch (error) {
      if (error instanceof TrainingHaltedError || isUnreachable(error)) throw error;
      onUnusable(key, error);
    }
  }
  replica.reset();
  return undefined;
}

/** The checkpoints that are visible, oldest first; unreadable ones count without a validation loss. `known` spares reading, and learns. */
export async function listCheckpoints(
  store: ObjectStore,
  runId: string,
  known: Map<number, KeptCheckpoint> = new Map(),
): Promise<readonly KeptCheckpoint[]> {
  const prefix = objectKeys.checkpointPrefix(runId);
  const visible: KeptCheckpoint[] = [];
  for (const key of await store.list(prefix)) {
    const finishedSteps = Number(key.slice(prefix.length).split("/")[0]);
    if (!Number.isSafeInteger(finishedSteps)) continue;
    const checkpoint = known.get(finishedSteps) ?? keptIn(await store.find(key), finishedSteps);
    known.set(finishedSteps, checkpoint);
    visible.push(checkpoint);
  }
  return visible;
}

/** The checkpoint of that step, if it is visible. */
export async function findKept(
  store: ObjectStore,
  runId: string,
  finishedSteps: number,
): Promise<KeptCheckpoint | undefined> {
  const body = await store.find(objectKeys.checkpointManifest(runId, finishedSteps));
  return body && keptIn(body, finishedSteps);
}

function keptIn(body: Uint8Array | undefined, finishedSteps: number): KeptCheckpoint {
  const loss = body && parseCheckpointManifest(new TextDecoder().decode(body))?.validation?.loss;
  return { finishedSteps, ...(typeof loss === "number" ? { validationLoss: loss } : {}) };
}

/** Fields in which the machines that computed a checkpoint's steps, and this one, differ from each other. */
export function otherNumericsOf(manifest: CheckpointManifest | undefined, mine: NumericsRecord): readonly string[] {
  if (!manifest) return [];
  const differences = numericsDifferences(manifest.numerics, mine).map(({ field }) => field);
  return [...new Set([...(manifest.otherNumerics ?? []), ...differences])].sort();
}

async function readManifest(store: ObjectStore, key: string): Promise<CheckpointManifest | undefined> {
  const body = await store.find(key);
  if (body === undefined) return undefined;
  const manifest = parseCheckpointManifest(new TextDecoder().decode(body));
  if (manifest === undefined) throw new CorruptObjectError(key, "a checkpoint manifest", "something else");
  return manifest;
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
      const { tensors } = decodeSafetensors(await readGroup(store, group.sha256));
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
  const score = Buffer.from(manifest.epochScore, "base64");
  if (score.byteLength !== replica.epochScore.byteLength) {
    throw new CorruptObjectError(key, `${replica.epochScore.byteLength} bytes of epochScore`, `${score.byteLength}`);
  }
  new Uint8Array(replica.epochScore.buffer).set(score);
  replica.finishedSteps = manifest.finishedSteps;
}

/**
 * Content that is damaged in the store is removed: training that goes on from an older checkpoint makes the same bytes again, under the
 * same name, and would take what is there for them. Read twice, lest one bad reading cost good content.
 */
async function readGroup(store: ObjectStore, sha256: string): Promise<Uint8Array> {
  try {
    return await store.getContent(sha256);
  } catch (error) {
    if (!(error instanceof CorruptObjectError)) throw error;
  }
  try {
    return await store.getContent(sha256);
  } catch (error) {
    if (error instanceof CorruptObjectError) await store.delete(objectKeys.content(sha256));
    throw error;
  }
}

/** No answer at all says nothing about the checkpoint; trying an older one would only lose steps. */
function isUnreachable(error: unknown): boolean {
  const metadata = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata;
  return metadata !== undefined && metadata.httpStatusCode === undefined;
}
