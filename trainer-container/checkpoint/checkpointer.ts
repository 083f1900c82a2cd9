import { objectKeys } from "../../core/platform/object-keys";
import type { CheckpointManifest } from "../../core/training/checkpoint/manifest";
import {
  type CheckpointMoment,
  type CheckpointRule,
  expiredCheckpoints,
  isCheckpointDue,
  type KeptCheckpoint,
} from "../../core/training/checkpoint/policy";
import type { Replica } from "../loop/replica";
import type { Score } from "../loop/score";
import { listCheckpoints } from "./restore";
import type { Snapshot, SnapshotSpace } from "./snapshot";
import { stateBuffers } from "./state";
import { readLive, type StateFiles, type StoredState, stateFiles, storeState } from "./state-files";
import type { StateUploader } from "./upload-protocol";
import { type CheckpointHeader, type CheckpointWriterOptions, writeCheckpoint } from "./writer";

/** A failed upload is tried again after this long, whatever the rhythm of steps: a full store is not asked at every step. */
const retryAfterMs = 15_000;
/** How long steps wait for an upload straight from the state, where no file could take a copy, before the checkpoint is given up. */
const uploadPatienceMs = 60_000;

export interface CheckpointerEvents {
  /** `blockedMs` is all that training waited: the copy. */
  written(manifest: CheckpointManifest, blockedMs: number, uploadMs: number): void;
  /** Training goes on with the checkpoints there are. */
  failed(error: unknown, finishedSteps: number): void;
  /** No file could take a copy of the state: the next step waits for the upload. */
  notKept(error: unknown, finishedSteps: number): void;
}

export interface Checkpointer {
  /**
   * At a step boundary. Every rank calls it and counts what is due, so that a new leader goes on with the rhythm; only the leader copies and
   * uploads. At most one upload is in flight. What falls due meanwhile by steps or time is taken at the first boundary after it; an
   * epoch's end, which has a validation loss and may be the best, is copied and waits for its turn.
   */
  boundary(replica: Replica, leader: boolean, epochsFinished: number, validation: Score | undefined): void;
  /** Whether `boundary` would take a checkpoint after that step: a sharded optimizer's state is gathered only then. Epochs' ends always are. */
  due(finishedSteps: number): boolean;
  /** Before anything writes to the replica's buffers: settles once no checkpoint needs them as they are. Never rejects. */
  writable(): Promise<void> | undefined;
  /** Waits for the upload in flight, then stores this state too, unless it is stored already, by whomever. */
  finish(replica: Replica, epochsFinished: number): Promise<void>;
  /** Waits for the upload in flight. */
  idle(): Promise<void>;
  /** Gives the copies' memory and file back. */
  close(): void;
}

/** A checkpoint on its way: copied at a boundary, then uploaded. */
interface Taken {
  readonly header: CheckpointHeader;
  readonly files: StateFiles;
  readonly live: readonly Float32Array[];
  readonly snapshot: Snapshot;
  /** Settled when the upload is over, well or not. */
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** The live state may change: it is copied, or is not waited for any more. */
  writable: boolean;
  /** It changed before it was stored. */
  given: boolean;
  copyMs: number;
  waitMs: number;
  waitingSince: number | undefined;
}

export function createCheckpointer(
  options: CheckpointWriterOptions & {
    readonly rule: CheckpointRule & { readonly keep: number };
    /** Steps of the checkpoint that this process began with; 0 for none. */
    readonly restoredAt: number;
    readonly events: CheckpointerEvents;
    /** Milliseconds, monotonic. */
    readonly now: () => number;
    readonly space: SnapshotSpace;
    readonly upload: StateUploader;
    /** Settles after that many milliseconds. */
    readonly sleep: (ms: number) => Promise<unknown>;
  },
): Checkpointer {
  const { store, runId, layout, clock, rule, events, now, space } = options;
  let last: CheckpointMoment = { finishedSteps: options.restoredAt, at: clock.now() };
  let stored = options.restoredAt;
  let retryAt = Number.POSITIVE_INFINITY;
  let inFlight: Promise<void> | undefined;
  let waiting: Taken | undefined;
  let unwritable: readonly Taken[] = [];
  let prepared = false;
  const known = new Map<number, KeptCheckpoint>();

  function take(replica: Replica, header: CheckpointHeader): Taken {
    const began = now();
    const buffers = stateBuffers(replica, layout);
    const live = buffers.map(({ values }) => values);
    const snapshot = space.take(live);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const taken: Taken = {
      header: { ...header, epochScore: replica.epochScore.slice() },
      files: stateFiles(buffers, layout),
      live,
      snapshot,
      ended,
      end,
      writable: false,
      given: false,
      copyMs: now() - began,
      waitMs: 0,
      waitingSince: undefined,
    };
    unwritable = [...unwritable, taken];
    void snapshot.kept.then((frozen) => {
      if (frozen) release(taken);
      else events.notKept(snapshot.trouble(), header.finishedSteps);
    });
    return taken;
  }

  function prepare(replica: Replica): void {
    prepared = true;
    space.prepare(stateBuffers(replica, layout).reduce((bytes, { values }) => bytes + values.byteLength, 0));
  }

  function release(taken: Taken): void {
    taken.writable = true;
    unwritable = unwritable.filter((other) => other !== taken);
  }

  function start(taken: Taken): void {
    inFlight = upload(taken).finally(() => {
      taken.snapshot.release();
      taken.end();
      inFlight = undefined;
      const next = waiting;
      waiting = undefined;
      if (next !== undefined) start(next);
    });
  }

  async function upload(taken: Taken): Promise<void> {
    const began = now();
    const { header } = taken;
    try {
      const state = await storeTensors(taken);
      release(taken);
      const manifest = await writeCheckpoint(options, state, header);
      stored = Math.max(stored, manifest.finishedSteps);
      const waited = taken.waitMs + (taken.waitingSince === undefined ? 0 : now() - taken.waitingSince);
      events.written(manifest, taken.copyMs + waited, now() - began);
      await expire(manifest);
    } catch (error) {
      events.failed(error, header.finishedSteps);
      retryAt = clock.now() + retryAfterMs;
    } finally {
      release(taken);
    }
  }

  async function storeTensors(taken: Taken): Promise<StoredState> {
    const { snapshot, files, live, header } = taken;
    const frozen = await snapshot.kept;
    if (frozen) return options.upload(frozen, files);
    const check = () => {
      if (taken.given) throw new Error(`the state of step ${header.finishedSteps} changed before it was stored`);
    };
    const state = await storeState(store, files, readLive(live, check));
    check();
    return state;
  }

  /** Waits until the copies are made, or until those that cannot be are uploaded. */
  async function hold(all: readonly Taken[]): Promise<void> {
    for (const taken of all) {
      const began = now();
      taken.waitingSince = began;
      const frozen = await taken.snapshot.kept;
      if (!frozen && !taken.writable) await Promise.race([taken.ended, options.sleep(uploadPatienceMs)]);
      if (!frozen && !taken.writable) taken.given = true;
      release(taken);
      taken.waitingSince = undefined;
      taken.waitMs += now() - began;
    }
  }

  async function idle(): Promise<void> {
    while (inFlight !== undefined) await inFlight;
  }

  /** Listed anew each time: another leader may have written some in between. */
  async function expire(manifest: CheckpointManifest): Promise<void> {
    const loss = manifest.validation?.loss;
    known.set(manifest.finishedSteps, {
      finishedSteps: manifest.finishedSteps,
      ...(loss === undefined ? {} : { validationLoss: loss }),
    });
    const visible = await listCheckpoints(store, runId, known);
    for (const step of expiredCheckpoints(visible, rule.keep)) {
      await store.delete(objectKeys.checkpointManifest(runId, step));
    }
  }

  return {
    boundary(replica, leader, epochsFinished, validation) {
      const moment = { finishedSteps: replica.finishedSteps, at: clock.now() };
      const busy = inFlight !== undefined;
      if (busy && (validation === undefined || waiting !== undefined)) return;
      if (moment.at < retryAt && !isCheckpointDue(rule, last, moment, validation !== undefined)) {
        if (leader && !prepared) prepare(replica);
        return;
      }
      last = moment;
      retryAt = Number.POSITIVE_INFINITY;
      if (!leader) return;
      const taken = take(replica, headerOf(replica, epochsFinished, validation));
      if (busy) waiting = taken;
      else start(taken);
    },

    due(finishedSteps) {
      const moment = { finishedSteps, at: clock.now() };
      return inFlight === undefined && (moment.at >= retryAt || isCheckpointDue(rule, last, moment, false));
    },

    writable: () => (unwritable.length === 0 ? undefined : hold(unwritable)),

    async finish(replica, epochsFinished) {
      await idle();
      const { finishedSteps } = replica;
      if (finishedSteps <= stored) return;
      if ((await store.size(objectKeys.checkpointManifest(runId, finishedSteps))) !== undefined) return;
      start(take(replica, headerOf(replica, epochsFinished, undefined)));
      await idle();
    },

    idle,
    close: () => space.close(),
  };
}

function headerOf(replica: Replica, epoch: number, validation: Score | undefined): CheckpointHeader {
  const { finishedSteps, epochScore } = replica;
  if (validation === undefined) return { finishedSteps, epoch, epochScore };
  const { loss, accuracy } = validation;
  return { finishedSteps, epoch, epochScore, validation: { loss, ...(accuracy === undefined ? {} : { accuracy }) } };
}
