import { createHash } from "node:crypto";
import type { Replica } from "../../../trainer-container/loop/replica";

/** Stores the whole state. @throws if the replica is not whole. */
export function stateDigest({ weights, slots, epochScore, finishedSteps }: Replica): string {
  const hash = createHash("sha256").update(String(finishedSteps));
  const names = Object.keys(slots).sort();
  for (const { buffer, byteOffset, byteLength } of [weights, ...names.map((name) => slots[name]!), epochScore]) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest("hex");
}

interface Stored {
  readonly finishedSteps: number;
  readonly weights: Float32Array;
  readonly state: Readonly<Record<string, Float32Array>>;
  readonly epochScore: Float64Array;
  readonly digest: string;
}

export class FakeCheckpoints {
  readonly stored: Stored[] = [];

  save(replica: Replica): void {
    const { finishedSteps, weights, slots, epochScore } = replica;
    const state = Object.fromEntries(Object.entries(slots).map(([name, values]) => [name, values.slice()]));
    const digest = stateDigest(replica);
    this.stored.push({ finishedSteps, weights: weights.slice(), state, epochScore: epochScore.slice(), digest });
  }

  /** The newest one, else step 0. */
  restore(replica: Replica): void {
    const newest = this.stored.toSorted((a, b) => b.finishedSteps - a.finishedSteps)[0];
    if (newest === undefined) {
      replica.reset();
      return;
    }
    replica.weights.set(newest.weights);
    for (const [name, values] of Object.entries(newest.state)) replica.slots[name]!.set(values);
    replica.epochScore.set(newest.epochScore);
    replica.finishedSteps = newest.finishedSteps;
  }
}
