import type { GenerationLostError } from "../collective/errors";
import type { MessagesInput } from "../collective/messages";
import type { ReduceScatterInput } from "../collective/reduce-scatter";
import type { Add } from "../kernels/add";
import type { LeafRange } from "../reduction/plan";

/** The replica whose state all ranks adopt: the highest finished step, and the lowest rank on ties. */
interface StateSource {
  readonly source: number;
  readonly finishedSteps: number;
  /** Ranks behind it, ascending. */
  readonly behind: readonly number[];
}

/** @param finishedSteps by rank. */
export function stateSource(finishedSteps: readonly number[]): StateSource {
  const furthest = Math.max(...finishedSteps);
  return {
    source: finishedSteps.indexOf(furthest),
    finishedSteps: furthest,
    behind: finishedSteps.flatMap((steps, rank) => (steps < furthest ? [rank] : [])),
  };
}

export type { LeafRange };

/**
 * The other workers as the training loop sees them. A *member* is a process with a lease, a *generation* a sealed list
 * of members, a *rank* a position in it. A *leaf* is one micro-batch's gradient; V leaves make the global batch's.
 */
export interface Gang {
  /** The same in all generations, e.g. `<job id>/<attempt>`. */
  readonly memberId: string;
  /**
   * Resolves once this worker is a rank of a sealed generation whose members are all connected. Call it at the start,
   * after a `GenerationLostError`, and at a step boundary if `Generation.allReduce` reported a re-formation. Closes the
   * previous generation.
   *
   * @throws GangCompletedError if another member has completed the run
   * @throws GangLeftError if `leave` was called
   * @throws GangMemberReplacedError if another process has registered under the same member id
   * @throws GangRunEndedError if the store fails because the run has ended
   */
  enter(finishedSteps: number): Promise<Generation>;
  /** Releases the lease, sockets and timers; idempotent. After `completed` (the result is stored) `enter` throws. */
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
  /** Value at the time of sealing. */
  readonly finishedSteps: number;
}

export interface BegunSum {
  /** Reports that elements [start, end) of all local leaves are final and may be overwritten. Never throws. */
  ready(start: number, end: number): void;
  /** Reports that all elements are final. Resolves and rejects like `allReduce`. */
  finish(): Promise<number>;
}

export interface Generation {
  readonly number: number;
  readonly rank: number;
  readonly worldSize: number;
  readonly members: readonly GangMember[];
  /** The leaves that this rank computes: contiguous, with sizes that differ by at most one. */
  readonly leaves: LeafRange;
  /** Ranges of `leaves` whose sums in the canonical order may be passed to `allReduce`; undefined: only leaves. */
  readonly subtrees?: readonly LeafRange[] | undefined;
  /** The reason why the generation cannot continue; undefined while it can. Later results for it do not count. */
  readonly lost: GenerationLostError | undefined;
  /** Whether that rank's connections have ended. This alone is not a loss while no operation runs. */
  departed(rank: number): boolean;
  /**
   * Sums all V leaves in the canonical order into `out` on every rank. The result is the same for every world size.
   *
   * @param local this rank's leaves, `leaves.end - leaves.first` arrays of `out.length` float32, or the sums of its
   *   `subtrees`. They may be overwritten.
   * @param signals bits that this rank raises (see `gangSignals`). Every rank gets the same OR of all bits, so all ranks
   *   decide alike at the same step boundary.
   * @param finishedSteps of this replica before the step. All ranks must agree, otherwise the generation is lost.
   * @param add addition of words that are not float32; the same on all ranks.
   * @throws GenerationLostError if a member is lost or too slow. The content of `out` is then undefined.
   */
  allReduce(
    local: readonly Float32Array[],
    out: Float32Array,
    signals: number,
    finishedSteps: number,
    add?: Add,
  ): Promise<number>;
  /**
   * Begins an `allReduce` while the last leaf is still being computed. No other operation may run until `finish` has
   * ended. If `finish` is never called, `close` ends the operation.
   *
   * @returns `undefined` if an overlap gains nothing. Then use `allReduce`.
   * @throws GenerationLostError
   */
  beginAllReduce?(
    local: readonly Float32Array[],
    out: Float32Array,
    signals: number,
    finishedSteps: number,
  ): BegunSum | undefined;
  /**
   * Copies the state of the most advanced member to all replicas that are behind (see `members`). A replica is replaced
   * completely or not at all: after a `GenerationLostError` it is unchanged. Buffers have the same length on all ranks.
   * Does nothing if all are equal. Call it once per generation, before its first `allReduce`.
   *
   * @param finishedSteps as passed to `enter`
   * @returns the finished steps of every replica after the copy
   */
  synchronize(state: readonly Float32Array[], finishedSteps: number): Promise<number>;
  /**
   * Sums all V leaves like `allReduce`, for a sharded optimizer. Each segment's sum is left on its owner and on the next
   * rank.
   *
   * @returns the signals that each rank raised, by rank
   * @throws GenerationLostError. The content of `own` and `copy` is then undefined.
   */
  reduceScatter(input: ReduceScatterInput): Promise<readonly number[]>;
  /**
   * Exchanges messages that all ranks have planned alike. It resolves only after all ranks have begun it, so without
   * messages it is a barrier.
   *
   * @throws GenerationLostError. The content of the messages to receive is then undefined.
   */
  exchange(input: MessagesInput): Promise<void>;
  /** Bytes written to sockets since the generation began, and milliseconds of waiting in its operations. */
  readonly traffic: { readonly bytesSent: number; readonly waitMs: number };
  close(): void;
}

/** Bits that each `allReduce` combines by OR over all ranks. */
export const gangSignals = {
  /** A member waits to join: re-form after this step. `Generation` raises it; callers see it in the result. */
  joinerWaiting: 1,
  /** This rank's host is about to go away: re-form without it after this step. */
  leaving: 2,
  /** This rank found a loss or gradient that is not finite: no rank applies this step. */
  nonFinite: 4,
  /** The run was cancelled or its task is over. */
  stop: 8,
  /** The leader wants all of a sharded optimizer's state after this step. */
  checkpoint: 16,
} as const;

/** Another member has completed the run. There is nothing left to do. */
export class GangCompletedError extends Error {
  constructor(readonly gangId: string) {
    super(`gang ${gangId} has completed its run: nothing is left to do`);
    this.name = "GangCompletedError";
  }
}

/** Another process has since registered under this member's id. This process is obsolete and must end. */
export class GangMemberReplacedError extends Error {
  constructor(readonly memberId: string) {
    super(`another process has replaced gang member ${memberId}: this one should end`);
    this.name = "GangMemberReplacedError";
  }
}

/** `leave` was called. This member cannot enter again. */
export class GangLeftError extends Error {
  constructor(readonly memberId: string) {
    super(`gang member ${memberId} has left: start another to come back`);
    this.name = "GangLeftError";
  }
}

/** The gang's store refuses this member, because the run has ended, for example by a cancellation. */
export class GangRunEndedError extends Error {
  constructor(gangId: string, cause: unknown) {
    super(`the run of gang ${gangId} has ended, so its store is closed`, { cause });
    this.name = "GangRunEndedError";
  }
}
