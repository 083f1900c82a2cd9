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

/** `leader` uploads. `standby` uploads if the leader is lost before. `none` counts, to continue the schedule. */
type CheckpointRole = "leader" | "standby" | "none";

type RestoredCheckpoint = Pick<CheckpointManifest, "finishedSteps" | "validation">;

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
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Bytes of all copies together. Two copies are always allowed. */
  readonly copyBytes?: number;
}

/**
 * Copies every checkpoint of the schedule. Copies wait for upload, oldest first, unless retention would certainly
 * delete them. If copies that must be stored take all the room, the next step waits.
 */
export class Checkpointer {
  private readonly copies: StateCopies;
  /** The newest boundary that was due. */
  private last: { readonly finishedSteps: number; readonly validated: boolean; readonly at: number };
  private pending: readonly Pending[] = [];
  private inFlight: Promise<void> | undefined;
  /** A due state without room for a copy yet; it is still in the replica. */
  private deferred: { readonly replica: Replica; readonly header: CheckpointHeader } | undefined;
  private best: KeptCheckpoint | undefined;
  private leader: string | undefined;
  private retryAt = Number.NEGATIVE_INFINITY;
  private room: number | undefined;
  private prepared = false;
  private readonly visible = new Map<number, VisibleCheckpoint>();

  constructor(private readonly options: CheckpointerOptions) {
    this.copies = new StateCopies({ ...options, onNotKept: (error, step) => options.events.notKept(error, step) });
    this.last = this.dueAt(options.restored);
  }

  /** Called at a step boundary, on every rank. Copies the state if a checkpoint is due. The upload runs during the steps. */
  boundary(replica: Replica, role: CheckpointRole, epochsFinished: number, validation: Score | undefined): void {
    const header = headerOf(replica, epochsFinished, validation);
    const { finishedSteps } = header;
    if (role !== "leader") this.visible.clear(); // another leader's writes are not visible here
    this.pump();
    if (!this.isDue(finishedSteps, validation !== undefined)) {
      if (role === "leader" && !this.prepared) this.options.space.prepare(this.copies.bytesOf(replica));
      this.prepared ||= role === "leader";
      return;
    }
    this.last = { finishedSteps, validated: validation !== undefined, at: this.options.clock.now() };
    if (role !== "none") {
      this.dropSuperseded(header);
      if (this.isFull(replica) && (role === "standby" || this.isFailing())) this.dropOldest();
      if (this.isFull(replica)) this.deferred = { replica, header };
      else this.take(replica, header, role === "standby");
    }
    this.best = bestCheckpoint([...(this.best ? [this.best] : []), keptOf(header)]);
  }

  /** Whether `boundary` would take a checkpoint after that step: a sharded optimizer's state is gathered only then. */
  due(finishedSteps: number): boolean {
    return this.isDue(finishedSteps, false);
  }

  /** Continues the schedule from this checkpoint, or from step 0: later checkpoints fall due again. */
  rewind(checkpoint: RestoredCheckpoint | undefined): void {
    this.last = this.dueAt(checkpoint);
  }

  /** Records the leader of a new generation. Copies that were held for another leader are uploaded. */
  setLeader(leaderId: string): void {
    if (this.leader !== undefined && this.leader !== leaderId) for (const one of this.pending) one.held = false;
    this.leader = leaderId;
  }

  /** Awaited before any write to the replica's buffers: settles once no checkpoint needs them unchanged. Never rejects. */
  writable(): Promise<void> | undefined {
    if (this.deferred === undefined) return this.copies.writable();
    return this.takeDeferred().then(() => this.copies.writable());
  }

  /** Stores all copies. Tries for ten minutes while the store is unavailable, or `once`. Never rejects. */
  async flush(once?: "once"): Promise<void> {
    for (const one of this.pending) one.held = false;
    await this.takeDeferred();
    for (let attempt = 1; ; attempt += 1) {
      this.retryAt = Number.NEGATIVE_INFINITY;
      this.pump();
      await this.idle();
      if (this.pending.length === 0 || once || attempt === flushAttempts) return;
      await this.options.sleep(retryAfterMs);
    }
  }

  /** Stores all copies, then this state too, unless it is already stored. Never rejects. */
  async finish(replica: Replica, epochsFinished: number): Promise<void> {
    const { store, runId, events } = this.options;
    await this.flush("once");
    const { finishedSteps } = replica;
    if (finishedSteps === 0) return;
    try {
      if ((await findKept(store, runId, finishedSteps)) !== undefined) return;
    } catch (error) {
      events.failed(error, finishedSteps);
      return;
    }
    this.retryAt = Number.NEGATIVE_INFINITY;
    this.take(replica, headerOf(replica, epochsFinished, undefined), false);
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.inFlight !== undefined) await this.inFlight;
  }

  close(): void {
    this.drop(this.pending);
    this.options.space.close();
  }

  private dueAt({ finishedSteps, validation }: Partial<RestoredCheckpoint> = {}) {
    return { finishedSteps: finishedSteps ?? 0, validated: validation !== undefined, at: this.options.clock.now() };
  }

  private isFailing(): boolean {
    return this.options.clock.now() < this.retryAt;
  }

  private isDue(finishedSteps: number, validated: boolean): boolean {
    const { rule, clock } = this.options;
    const { last } = this;
    const age = clock.now() - last.at;
    if (isScheduled(rule, finishedSteps)) {
      const isNeeded = finishedSteps === rule.lastStep || (rule.everyEpoch && finishedSteps % rule.stepsPerEpoch === 0);
      if (!isNeeded && age < (rule.minSeconds ?? 0) * 1000) return false;
      return finishedSteps !== last.finishedSteps || (validated && !last.validated);
    }
    const isIdle = this.inFlight === undefined && this.pending.every(({ held }) => held);
    return finishedSteps > last.finishedSteps && age >= rule.everySeconds * 1000 && isIdle;
  }

  /** Whether no copy has room: the one being uploaded, the newest `keep` and the best have it, as memory allows. */
  private isFull(replica: Replica): boolean {
    const { rule, copyBytes = defaultCopyBytes } = this.options;
    this.room ??= Math.max(2, Math.min(rule.keep + 2, Math.floor(copyBytes / this.copies.bytesOf(replica))));
    return this.pending.length + (this.inFlight === undefined ? 0 : 1) >= this.room;
  }

  /** Drops the copies that retention would delete once this checkpoint exists. */
  private dropSuperseded(header: CheckpointHeader): void {
    const all = [...this.pending, ...(this.best ? [this.best] : []), keptOf(header)];
    const expired = new Set([...expiredCheckpoints(all, this.options.rule), header.finishedSteps]);
    this.drop(this.pending.filter(({ finishedSteps }) => expired.has(finishedSteps)));
  }

  /** Drops the oldest copy except the best. This happens on a standby, and while the store is unavailable for long. */
  private dropOldest(): void {
    this.drop(this.pending.filter(({ finishedSteps }) => finishedSteps !== this.best?.finishedSteps).slice(0, 1));
  }

  private drop(dropped: readonly Pending[]): void {
    this.pending = this.pending.filter((one) => !dropped.includes(one));
    for (const { copy } of dropped) this.copies.release(copy);
  }

  private enqueue(one: Pending): void {
    this.pending = [...this.pending, one].sort((a, b) => a.finishedSteps - b.finishedSteps);
  }

  private take(replica: Replica, header: CheckpointHeader, held: boolean): StateCopy {
    const copy = this.copies.take(replica, header);
    this.enqueue({ ...keptOf(header), copy, held, inherited: held });
    this.pump();
    return copy;
  }

  private pump(): void {
    const next = this.pending.find(({ held }) => !held);
    if (this.inFlight !== undefined || next === undefined || this.isFailing()) return;
    this.pending = this.pending.filter((one) => one !== next);
    this.inFlight = this.upload(next).finally(() => {
      this.inFlight = undefined;
      this.pump();
    });
  }

  private async upload(one: Pending): Promise<void> {
    const { events, now, clock } = this.options;
    const { copy, finishedSteps } = one;
    const began = now();
    try {
      if (!(one.inherited && (await this.isStored(one)))) {
        const state = await this.storeTensors(copy);
        this.copies.allowWrites(copy);
        const manifest = await writeCheckpoint(this.options, state, copy.header);
        this.visible.set(finishedSteps, visibleOf(manifest));
        events.written(manifest, this.copies.blockedMs(copy), now() - began);
      }
      await this.expire();
      this.copies.release(copy);
    } catch (error) {
      events.failed(error, finishedSteps);
      this.retryAt = clock.now() + retryAfterMs;
      const frozen = await copy.snapshot.kept;
      if (frozen) this.enqueue(one);
      else this.copies.release(copy);
    }
  }

  /** Whether the leader stored it before it was lost. */
  private async isStored({ finishedSteps, validationLoss }: Pending): Promise<boolean> {
    const stored = await findKept(this.options.store, this.options.runId, finishedSteps);
    return stored !== undefined && (validationLoss === undefined || stored.validationLoss !== undefined);
  }

  private async storeTensors(copy: StateCopy): Promise<StoredState> {
    const { store, runId, upload } = this.options;
    const { snapshot, files, live, header } = copy;
    const places = await tensorPlaces(store, { runId, step: header.finishedSteps, bytes: bytesOf(files) });
    const frozen = await snapshot.kept;
    if (frozen) return upload(frozen, files, places);
    const check = () => {
      if (copy.spoilt) throw new Error(`the state of step ${header.finishedSteps} changed before it was stored`);
    };
    const state = await storeState(store, files, readLive(live, check), places);
    check();
    return state;
  }

  /** Lists checkpoints again each time, because another leader may have written some in between. */
  private async expire(): Promise<void> {
    const { store, runId, rule } = this.options;
    const checkpoints = await listCheckpoints(store, runId, this.visible);
    const expired = expiredCheckpoints(checkpoints, rule);
    for (const step of expired) await store.delete(objectKeys.checkpointManifest(runId, step));
    const [deleted, kept] = [true, false].map((isExpired) =>
      checkpoints
        .filter(({ finishedSteps }) => expired.includes(finishedSteps) === isExpired)
        .flatMap(({ tensors }) => tensors),
    ) as [string[], string[]];
    await eraseTensors(store, runId, { deleted, kept });
  }

  private async takeDeferred(): Promise<void> {
    const { now } = this.options;
    const began = now();
    while (this.deferred !== undefined && this.isFull(this.deferred.replica)) {
      if (this.inFlight === undefined) this.dropOldest();
      else await this.inFlight;
    }
    if (this.deferred === undefined) return;
    const { replica, header } = this.deferred;
    this.deferred = undefined;
    this.take(replica, header, false).blockedMs += now() - began;
  }
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
