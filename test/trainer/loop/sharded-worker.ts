import { createHash } from "node:crypto";
import type { Gang } from "../../../trainer-container/gang/gang";
import type { Replica } from "../../../trainer-container/loop/replica";
import { ShardedReplica } from "../../../trainer-container/loop/sharded-replica";
import type { Sharding, TrainingEvents } from "../../../trainer-container/loop/training";
import { createWorker, taskOf, type Worker } from "./in-process";
import { wideModel } from "./wide-model";

export interface ShardedWorker extends Worker {
  readonly replica: ShardedReplica;
  /** Number of times that it had to go back to a checkpoint. */
  restores: number;
}

export interface ShardedOptions {
  readonly model?: ReturnType<typeof wideModel>;
  readonly events?: Partial<TrainingEvents>;
  readonly restore?: (replica: ShardedReplica) => Promise<void>;
  readonly checkpointDue?: Sharding["checkpointDue"];
}

/** A worker of the wide model whose optimizer is sharded. Without a checkpoint to restore it goes back to step 0. */
export function createShardedWorker(
  gang: Gang,
  task = taskOf(),
  { model = wideModel(), events = {}, restore, checkpointDue = () => false }: ShardedOptions = {},
): ShardedWorker {
  const worker = createWorker(gang, task, model, events);
  const { plan, layout } = worker.training;
  const replica = new ShardedReplica(model, plan, layout);
  const sharding: Sharding = {
    replica,
    checkpointDue,
    sleep: async () => undefined,
    async restore() {
      sharded.restores += 1;
      if (restore) await restore(replica);
      else replica.reset();
    },
  };
  const { leaves, events: reported } = worker.training;
  const sharded: ShardedWorker = {
    outcomes: worker.outcomes,
    epochs: worker.epochs,
    leaving: false,
    restores: 0,
    replica,
    training: { ...worker.training, replica, leaves, events: reported, sharding, leaving: () => sharded.leaving },
  };
  return sharded;
}

/** Digest of the state that every rank has: all weights, the epoch's score, the count of steps. */
export function weightsDigest({ weights, epochScore, finishedSteps }: Replica): string {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of [weights, epochScore]) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.update(String(finishedSteps)).digest("hex");
}

/** Whether all slots that the worker holds have the bits of the reference's. */
export function slotsAgree({ shards, slotNames }: ShardedReplica, reference: Replica): boolean {
  return shards.every(({ slots, state }) =>
    slotNames.every((name) => {
      const expected = reference.slots[name]!.subarray(slots.start, slots.end);
      const bytes = (values: Float32Array) => Buffer.from(values.buffer, values.byteOffset, values.byteLength);
      return bytes(expected).equals(bytes(state[name]!));
    }),
  );
}
