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
import { type StateBuffer, stateBuffers } from "./state";
import { type CheckpointHeader, type CheckpointWriterOptions, writeCheckpoint } from "./writer";

/** A failed upload is tried again after this long, whatever the rhythm of steps: a full store is not asked at every step. */
const retryAfterMs = 15_000;

export interface CheckpointerEvents {
  /** `blockedMs` is all that training waited: the copy. */
  written(manifest: CheckpointManifest, blockedMs: number, uploadMs: number): void;
  /** Training goes on with the checkpoints there are. */
  failed(error: unknown, finishedSteps: number): void;
}

export interface Checkpointer {
  /**
   * At a step boundary. Every rank calls it and counts what is due, so that a new leader goes on with the rhythm; only the leader copies and
   * uploads. At most one upload is in flight. What falls due meanwhile by steps or time is taken at the first boundary after it; an
   * epoch's end, which has a validation loss and may be the best, is copied and waits for its turn.
   */
  boundary(replica: Replica, leader: boolean, epochsFinished: number, validation: Score | undefined): void;
  /** Waits for the upload in flight, then stores this state too, unless it is stored already, by whomever. */
  finish(replica: Replica, epochsFinished: number): Promise<void>;
  /** Waits for the upload in flight. */
  idle(): Promise<void>;
}

export function createCheckpointer(
  options: CheckpointWriterOptions & {
    readonly rule: CheckpointRule & { readonly keep: number };
    /** Steps of the checkpoint that this process began with; 0 for none. */
    readonly restoredAt: number;
    readonly events: CheckpointerEvents;
    /** Milliseconds, monotonic. */
    readonly now: () => number;
  },
): Checkpointer {
  const { store, runId, layout, clock, rule, events, now } = options;
  let last: CheckpointMoment = { finishedSteps: options.restoredAt, at: clock.now() };
  let stored = options.restoredAt;
  let retryAt = Number.POSITIVE_INFINITY;
  let inFlight: Promise<void> | undefined;
  const known = new Map<number, KeptCheckpoint>();
  const idleSnapshots: Snapshot[] = [];
  let waiting: CopiedCheckpoint | undefined;

  function copy(replica: Replica, header: CheckpointHeader): CopiedCheckpoint {
    const began = now();
    const snapshot = idleSnapshots.pop() ?? createSnapshot(replica, layout);
    snapshot.take(replica);
    return { snapshot, header: { ...header, epochScore: replica.epochScore.slice() }, blockedMs: now() - began };
  }

  function start(copied: CopiedCheckpoint): void {
    inFlight = upload(copied).finally(() => {
      idleSnapshots.push(copied.snapshot);
      inFlight = undefined;
      const next = waiting;
      waiting = undefined;
      if (next !== undefined) start(next);
    });
  }

  async function upload({ snapshot, header, blockedMs }: CopiedCheckpoint): Promise<void> {
    const began = now();
    try {
      const manifest = await writeCheckpoint(options, snapshot.buffers, header);
      stored = Math.max(stored, manifest.finishedSteps);
      events.written(manifest, blockedMs, now() - began);
      await expire(manifest);
    } catch (error) {
      events.failed(error, header.finishedSteps);
      retryAt = clock.now() + retryAfterMs;
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
      if (moment.at < retryAt && !isCheckpointDue(rule, last, moment, validation !== undefined)) return;
      last = moment;
      retryAt = Number.POSITIVE_INFINITY;
      if (!leader) return;
      const copied = copy(replica, headerOf(replica, epochsFinished, validation));
      if (busy) waiting = copied;
      else start(copied);
    },

    async finish(replica, epochsFinished) {
      await idle();
      const { finishedSteps } = replica;
      if (finishedSteps <= stored) return;
      if ((await store.size(objectKeys.checkpointManifest(runId, finishedSteps))) !== undefined) return;
      start(copy(replica, headerOf(replica, epochsFinished, undefined)));
      await idle();
    },

    idle,
  };
}

function headerOf(replica: Replica, epoch: number, validation: Score | undefined): CheckpointHeader {
  const { finishedSteps, epochScore } = replica;
  if (validation === undefined) return { finishedSteps, epoch, epochScore };
  const { loss, accuracy } = validation;
  return { finishedSteps, epoch, epochScore, validation: { loss, ...(accuracy === undefined ? {} : { accuracy }) } };
}

interface CopiedCheckpoint {
  readonly snapshot: Snapshot;
  readonly header: CheckpointHeader;
  /** All that training waited for it. */
  readonly blockedMs: number;
}

interface Snapshot {
  readonly buffers: readonly StateBuffer[];
  take(replica: Replica): void;
}

/** A second set of the state's buffers, made once: taking a checkpoint costs one copy and no allocation. */
function createSnapshot(replica: Replica, layout: CheckpointWriterOptions["layout"]): Snapshot {
  const buffers = stateBuffers(replica, layout).map((buffer) => ({ ...buffer, values: buffer.values.slice() }));
  return {
    buffers,
    take(current) {
      stateBuffers(current, layout).forEach(({ values }, index) => {
        buffers[index]!.values.set(values);
      });
    },
  };
}
