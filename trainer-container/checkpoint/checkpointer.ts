import { objectKeys } from "../../core/object-keys";
import type { CheckpointManifest } from "../../core/training/checkpoint/manifest";
import type { Replica } from "../loop/replica";
import type { Score } from "../loop/score";
import { bestCheckpoint, type CheckpointRule, expiredCheckpoints, isScheduled, type KeptCheckpoint } from "./policy";
import { findKept, listCheckpoints, type VisibleCheckpoint, visibleOf } from "./restore";
import { type SnapshotSpace, StateCopies, type StateCopy } from "./snapshot";
import { bytesOf, readLive, type StoredState, storeState } from "./state-files";
import { eraseTensors, tensorPlaces } from "./tensor-places";
import type { StateUploader } from "./upload-protocol";
import { type CheckpointHeader, type CheckpointWriterOptions, writeCheckpoint } from "./writer";

/** Wait before a failed upload is tried again, independent of the speed of steps: a full store gets few requests. */
const retryAfterMs = 15_000;
/** Attempts to store the remaining copies at the end of a training: ten minutes, as for the result. */
const flushAttempts = 40;
/** Bytes of all copies together, if that is more than two copies. */
const defaultCopyBytes = 256 * 1024 * 1024;

export interface CheckpointerEvents {
  /** `blockedMs` is the whole wait of the training: for the copy, and for room while all copies waited for their upload. */
  written(manifest: CheckpointManifest, blockedMs: number, uploadMs: number): void;
  /** A checkpoint was not stored. Training continues with the existing ones. */
  failed(error: unknown, finishedSteps: number): void;
  /** No file could take a copy of the state: the next step waits for the upload. */
  notKept(error: unknown, finishedSteps: number): void;
}

/**
 * `leader` copies and uploads. `standby` copies, and uploads if the leader is lost before its upload. `none` counts due
 * checkpoints, so that it can continue the schedule.
 */
type CheckpointRole = "leader" | "standby" | "none";

export interface Checkpointer {
  /** Called at a step boundary, on every rank. Copies the state if a checkpoint is due. The upload runs during the steps. */
  boundary(replica: Replica, role: CheckpointRole, epochsFinished: number, validation: Score | undefined): void;
  /** Whether `boundary` would take a checkpoint after that step: a sharded optimizer's state is gathered only then. */
  due(finishedSteps: number): boolean;
  /** Continues the schedule from this checkpoint, or from step 0: later checkpoints fall due again. */
  rewind(checkpoint: RestoredCheckpoint | undefined): void;
  /** Records the leader of a new generation. Copies that were held for another leader are uploaded. */
  setLeader(leaderId: string): void;
  /** Awaited before any write to the replica's buffers: settles once no checkpoint needs them unchanged. Never rejects. */
  writable(): Promise<void> | undefined;
  /** Stores all copies. Tries for ten minutes while the store is unavailable, or `once`. Never rejects. */
  flush(once?: "once"): Promise<void>;
  /** Stores all copies, then this state too, unless it is already stored. Never rejects. */
  finish(replica: Replica, epochsFinished: number): Promise<void>;
  /** Waits for the current uploads. */
  idle(): Promise<void>;
  /** Releases the copies' memory and files. */
  close(): void;
}

/** The checkpoint from which training continues. */
type RestoredCheckpoint = Pick<CheckpointManifest, "finishedSteps" | "validation">;

/** A copy that waits for its upload. */
interface Pending extends KeptCheckpoint {
  readonly copy: StateCopy;
  /** The leader uploads the same state. This copy is used if the leader is lost. */
  held: boolean;
  /** Was held before: the leader may have stored it. */
  readonly inherited: boolean;
}

export interface CheckpointerOptions extends CheckpointWriterOptions {
  readonly rule: CheckpointRule;
  /** The checkpoint that this process began with. */
  readonly restored?: RestoredCheckpoint;
  readonly events: CheckpointerEvents;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly space: SnapshotSpace;
  readonly upload: StateUploader;
  /** Settles after that many milliseconds. */
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Bytes of all copies together. Two copies are always allowed. */
  readonly copyBytes?: number;
}

/**
 * Takes a run's checkpoints. Every checkpoint of the schedule is copied. A copy waits for its upload, oldest first, unless
 * newer ones make it certain that retention would delete it. If copies that must be stored take all the room, the next step
 * waits for an upload.
 */
export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  const { store, runId, clock, rule, restored, events, now, space, copyBytes = defaultCopyBytes } = options;
  const copies = new StateCopies({ ...options, onNotKept: events.notKept });
  /** The newest boundary that was due. */
  let last = dueAt(restored);
  let pending: readonly Pending[] = [];
  let inFlight: Promise<void> | undefined;
  /** A due state without room for a copy yet; it is still in the replica. */
  let deferred: { readonly replica: Replica; readonly header: CheckpointHeader } | undefined;
  let best: KeptCheckpoint | undefined;
  let leader: string | undefined;
  let retryAt = Number.NEGATIVE_INFINITY;
  let room: number | undefined;
  let prepared = false;
  const known = new Map<number, VisibleCheckpoint>();

  function dueAt(checkpoint: RestoredCheckpoint | undefined) {
    const { finishedSteps = 0, validation } = checkpoint ?? {};
    return { finishedSteps, validated: validation !== undefined, at: clock.now() };
  }

  const isFailing = () => clock.now() < retryAt;
  const isIdle = () => inFlight === undefined && pending.every(({ held }) => held);

  function isDue(finishedSteps: number, validated: boolean): boolean {
    if (isScheduled(rule, finishedSteps)) {
      const isNeeded = finishedSteps === rule.lastStep || (rule.everyEpoch && finishedSteps % rule.stepsPerEpoch === 0);
      if (!isNeeded && clock.now() - last.at < (rule.minSeconds ?? 0) * 1000) return false;
      return finishedSteps !== last.finishedSteps || (validated && !last.validated);
    }
    return finishedSteps > last.finishedSteps && clock.now() - last.at >= rule.everySeconds * 1000 && isIdle();
  }

  /** Returns the maximum number of copies: the one being uploaded, the newest `keep` and the best, as memory allows. */
  function capacity(replica: Replica): number {
    room ??= Math.max(2, Math.min(rule.keep + 2, Math.floor(copyBytes / copies.bytesOf(replica))));
    return room;
  }

  function isFull(replica: Replica): boolean {
    return pending.length + (inFlight === undefined ? 0 : 1) >= capacity(replica);
  }

  /** Drops the copies that retention would delete once this checkpoint exists. */
  function dropSuperseded(header: CheckpointHeader): void {
    const all = [...pending, ...(best ? [best] : []), keptOf(header)];
    const expired = new Set([...expiredCheckpoints(all, rule), header.finishedSteps]);
    drop(pending.filter(({ finishedSteps }) => expired.has(finishedSteps)));
  }

  /** Drops the oldest copy except the best. This happens on a standby, and while the store is unavailable for long. */
  function dropOldest(): void {
    drop(pending.filter(({ finishedSteps }) => finishedSteps !== best?.finishedSteps).slice(0, 1));
  }

  function drop(dropped: readonly Pending[]): void {
    pending = pending.filter((one) => !dropped.includes(one));
    for (const { copy } of dropped) copies.release(copy);
  }

  function enqueue(one: Pending): void {
    pending = [...pending, one].sort((a, b) => a.finishedSteps - b.finishedSteps);
  }

  function take(replica: Replica, header: CheckpointHeader, held: boolean): StateCopy {
    const copy = copies.take(replica, header);
    enqueue({ ...keptOf(header), copy, held, inherited: held });
    pump();
    return copy;
  }

  /** Starts the upload of the oldest copy if none is running. */
  function pump(): void {
    const next = pending.find(({ held }) => !held);
    if (inFlight !== undefined || next === undefined || isFailing()) return;
    pending = pending.filter((one) => one !== next);
    inFlight = upload(next).finally(() => {
      inFlight = undefined;
      pump();
    });
  }

  async function upload(one: Pending): Promise<void> {
    const { copy, finishedSteps } = one;
    const began = now();
    try {
      if (!(one.inherited && (await isStored(one)))) {
        const state = await storeTensors(copy);
        copies.allowWrites(copy);
        const manifest = await writeCheckpoint(options, state, copy.header);
        known.set(finishedSteps, visibleOf(manifest));
        events.written(manifest, copies.blockedMs(copy), now() - began);
      }
      await expire();
      copies.release(copy);
    } catch (error) {
      events.failed(error, finishedSteps);
      retryAt = clock.now() + retryAfterMs;
      const frozen = await copy.snapshot.kept;
      if (frozen) enqueue(one);
      else copies.release(copy);
    }
  }

  /** Whether the leader stored it before it was lost. */
  async function isStored({ finishedSteps, validationLoss }: Pending): Promise<boolean> {
    const there = await findKept(store, runId, finishedSteps);
    return there !== undefined && (validationLoss === undefined || there.validationLoss !== undefined);
  }

  async function storeTensors(copy: StateCopy): Promise<StoredState> {
    const { snapshot, files, live, header } = copy;
    const places = await tensorPlaces(store, { runId, step: header.finishedSteps, bytes: bytesOf(files) });
    const frozen = await snapshot.kept;
    if (frozen) return options.upload(frozen, files, places);
    const check = () => {
      if (copy.spoilt) throw new Error(`the state of step ${header.finishedSteps} changed before it was stored`);
    };
    const state = await storeState(store, files, readLive(live, check), places);
    check();
    return state;
  }

  /** Lists checkpoints again each time, because another leader may have written some in between. */
  async function expire(): Promise<void> {
    const visible = await listCheckpoints(store, runId, known);
    const expired = expiredCheckpoints(visible, rule);
    for (const step of expired) await store.delete(objectKeys.checkpointManifest(runId, step));
    const [deleted, kept] = [true, false].map((isExpired) =>
      visible
        .filter(({ finishedSteps }) => expired.includes(finishedSteps) === isExpired)
        .flatMap(({ tensors }) => tensors),
    ) as [string[], string[]];
    await eraseTensors(store, runId, { deleted, kept });
  }

  async function idle(): Promise<void> {
    while (inFlight !== undefined) await inFlight;
  }

  /** Waits for room, then copies the deferred state. */
  async function takeDeferred(): Promise<void> {
    const began = now();
    while (deferred !== undefined && isFull(deferred.replica)) {
      if (inFlight === undefined) dropOldest();
      else await inFlight;
    }
    if (deferred === undefined) return;
    const { replica, header } = deferred;
    deferred = undefined;
    take(replica, header, false).blockedMs += now() - began;
  }

  async function writable(): Promise<void> {
    await takeDeferred();
    await copies.writable();
  }

  async function flush(once?: "once"): Promise<void> {
    for (const one of pending) one.held = false;
    await takeDeferred();
    for (let attempt = 1; ; attempt += 1) {
      retryAt = Number.NEGATIVE_INFINITY;
      pump();
      await idle();
      if (pending.length === 0 || once || attempt === flushAttempts) return;
      await options.sleep(retryAfterMs);
    }
  }

  return {
    boundary(replica, role, epochsFinished, validation) {
      const header = headerOf(replica, epochsFinished, validation);
      const { finishedSteps } = header;
      if (role !== "leader") known.clear(); // another leader's writes are not visible here
      pump();
      if (!isDue(finishedSteps, validation !== undefined)) {
        if (role === "leader" && !prepared) space.prepare(copies.bytesOf(replica));
        prepared ||= role === "leader";
        return;
      }
      last = { finishedSteps, validated: validation !== undefined, at: clock.now() };
      if (role !== "none") {
        dropSuperseded(header);
        if (isFull(replica) && (role === "standby" || isFailing())) dropOldest();
        if (isFull(replica)) deferred = { replica, header };
        else take(replica, header, role === "standby");
      }
      best = bestCheckpoint([...(best ? [best] : []), keptOf(header)]);
    },

    due: (finishedSteps) => isDue(finishedSteps, false),

    rewind(checkpoint) {
      last = dueAt(checkpoint);
    },

    setLeader(leaderId) {
      if (leader !== undefined && leader !== leaderId) for (const one of pending) one.held = false;
      leader = leaderId;
    },

    writable: () => (deferred === undefined ? copies.writable() : writable()),

    flush,

    async finish(replica, epochsFinished) {
      await flush("once");
      const { finishedSteps } = replica;
      if (finishedSteps === 0) return;
      try {
        if ((await findKept(store, runId, finishedSteps)) !== undefined) return;
      } catch (error) {
        events.failed(error, finishedSteps);
        return;
      }
      retryAt = Number.NEGATIVE_INFINITY;
      take(replica, headerOf(replica, epochsFinished, undefined), false);
      await idle();
    },

    idle,
    close() {
      drop(pending);
      space.close();
    },
  };
}

function keptOf({ finishedSteps, epoch, validation, bestEpoch }: CheckpointHeader): KeptCheckpoint {
  return {
    finishedSteps,
    ...(validation === undefined ? {} : { validationLoss: validation.loss }),
    ...(bestEpoch ? { endsBestEpoch: validation !== undefined && bestEpoch[0] === epoch } : {}),
  };
}

function headerOf(replica: Replica, epoch: number, validation: Score | undefined): CheckpointHeader {
  const { finishedSteps, epochScore, best } = replica;
  const header = { finishedSteps, epoch, epochScore, ...(best ? { bestEpoch: best.numbers } : {}) };
  if (validation === undefined) return header;
  const { loss, accuracy } = validation;
  return { ...header, validation: { loss, ...(accuracy === undefined ? {} : { accuracy }) } };
}
