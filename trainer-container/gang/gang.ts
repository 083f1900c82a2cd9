import type { Add } from "../collective/add";
import type { GenerationLostError } from "../collective/errors";
import type { ParcelsInput } from "../collective/messages";
import type { ReduceScatterInput } from "../collective/reduce-scatter";
import type { LeafRange } from "../reduction/plan";

export type { LeafRange };

/**
 * What the training loop sees of the other workers. The loop knows generations, ranks and sums; it knows no sockets, leases or tables.
 *
 * Vocabulary. A *member* is one worker process with a lease. A *generation* is a sealed list of members; a member's place in
 * it is its *rank*. A *leaf* is one microshard's gradient; V leaves make the global batch's. *Finished steps* of a
 * member: how many optimizer steps its replica of the state contains.
 */
export interface Gang {
  /** Stable over generations: `<job id>/<attempt>` or the like. */
  readonly memberId: string;
  /**
   * Resolves once this worker is a rank of a sealed generation whose members are all connected. Called at the start, after a
   * `GenerationLostError`, and at a step boundary where `Generation.allReduce` said that the gang re-forms. Closes the generation before.
   *
   * @throws GangCompletedError where another member has completed the run: nothing is left to do.
   * @throws GangLeftError where `leave` was called, before or meanwhile.
   * @throws GangMemberReplacedError where another process has registered under the same member id.
   */
  enter(finishedSteps: number): Promise<Generation>;
  /**
   * Gives up the lease, so that nobody waits for this member, and frees every socket and timer. Idempotent. `completed` says that the
   * run's result is stored: whoever enters later gets a `GangCompletedError`.
   */
  leave(reason: "completed" | "interrupted" | "failed"): Promise<void>;
}

export interface GangMember {
  readonly memberId: string;
  readonly rank: number;
  /** `AWS_BATCH_JOB_ARRAY_INDEX` or node index. */
  readonly workerIndex: number;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /** At the moment the generation was sealed. */
  readonly finishedSteps: number;
}

export interface BegunSum {
  /** Elements [start, end) of all local leaves are final, and may be read and overwritten by others from now on. Never throws. */
  ready(start: number, end: number): void;
  /** All are. Answers and fails as `allReduce`. */
  finish(): Promise<number>;
}

export interface Generation {
  readonly number: number;
  readonly rank: number;
  readonly worldSize: number;
  readonly members: readonly GangMember[];
  /** The leaves that this rank computes; contiguous, balanced within one. */
  readonly leaves: LeafRange;
  /** Why it cannot go on; undefined while it can. What is computed for it afterwards counts for nothing. */
  readonly lost: GenerationLostError | undefined;
  /** Whether that rank's connections have ended, in whatever way; no loss is made of it where no operation runs. */
  departed(rank: number): boolean;
  /**
   * Sums all V leaves in the canonical order, whatever the world size, into `out` on every rank.
   *
   * @param local this rank's leaves, `leaves.end - leaves.first` arrays of `out.length` float32. They may be overwritten.
   * @param signals bits that this rank raises (see `gangSignals`); the answer holds the OR over all ranks, the same everywhere, so
   *   that all decide alike at the same step boundary.
   * @param finishedSteps of this replica before the step; all ranks must agree, else the generation is lost (a bug or a split).
   * @param add where the vectors hold something else than float32, word by word: the same on all ranks.
   * @throws GenerationLostError when a member is lost or too slow: nothing of `out` may be used.
   */
  allReduce(
    local: readonly Float32Array[],
    out: Float32Array,
    signals: number,
    finishedSteps: number,
    add?: Add,
  ): Promise<number>;
  /**
   * `allReduce`, begun while the last leaf is still being computed. Until `finish` has ended no other operation may run; where it is never
   * called, `close` ends it.
   *
   * @returns `undefined` where it is not worth it; then `allReduce` sums.
   * @throws GenerationLostError
   */
  beginAllReduce?(
    local: readonly Float32Array[],
    out: Float32Array,
    signals: number,
    finishedSteps: number,
  ): BegunSum | undefined;
  /**
   * Brings all replicas to the state of the furthest member (`members` says who is behind). The source's `state` buffers are sent to
   * those that are behind, and written all or nothing: after a `GenerationLostError` they are as they were. Buffers have one
   * length everywhere. Does nothing where all are equal. Called once in a generation, before its first `allReduce`.
   *
   * @param finishedSteps as passed to `enter`.
   * @returns finished steps of every replica now.
   */
  synchronize(state: readonly Float32Array[], finishedSteps: number): Promise<number>;
  /**
   * For a sharded optimizer. Sums all V leaves as `allReduce` does, and leaves each segment's sum on its owner and on the rank after it.
   *
   * @returns the signals that each rank raised, by rank.
   * @throws GenerationLostError, with nothing in `own` and `copy` that may be used.
   */
  reduceScatter(input: ReduceScatterInput): Promise<readonly number[]>;
  /**
   * Any exchange that all ranks have planned alike. Where it resolves, all ranks have begun it; without parcels it is a barrier.
   *
   * @throws GenerationLostError, with nothing in the parcels to receive that may be used.
   */
  exchange(input: ParcelsInput): Promise<void>;
  /** Bytes written to sockets since the generation began, and milliseconds spent waiting in its operations. */
  readonly traffic: { readonly bytesSent: number; readonly waitMs: number };
  /** Closes the sockets. Idempotent. */
  close(): void;
}

/** Bits OR-ed over all ranks in each `allReduce`. */
export const gangSignals = {
  /** A member waits to join: re-form after this step. Raised by `Generation` itself, callers see it in the answer. */
  joinerWaiting: 1,
  /** This rank's host is going away: re-form without it after this step. */
  leaving: 2,
  /** This rank met a loss or gradient that is not finite: no rank applies this step. */
  nonFinite: 4,
  /** The run was cancelled or its task is over. */
  stop: 8,
  /** The leader wants all of a sharded optimizer's state after this step. */
  checkpoint: 16,
} as const;

/** Another member has completed the run, so that there is nothing left to enter for. */
export class GangCompletedError extends Error {
  constructor(readonly gangId: string) {
    super(`gang ${gangId} has completed its run: nothing is left to do`);
    this.name = "GangCompletedError";
  }
}

/** Another process has registered under this member's id since: this one is a left-over and should end. */
export class GangMemberReplacedError extends Error {
  constructor(readonly memberId: string) {
    super(`another process has taken the place of gang member ${memberId}: this one should end`);
    this.name = "GangMemberReplacedError";
  }
}

/** `leave` was called: this member enters no more. */
export class GangLeftError extends Error {
  constructor(readonly memberId: string) {
    super(`gang member ${memberId} has left: start another to come back`);
    this.name = "GangLeftError";
  }
}
