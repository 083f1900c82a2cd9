/**
 * What a gang keeps in its store. Two kinds of items, both under the gang's id: one *head*, which is the sealed list of the present
 * generation, and one item for each *member*. A member writes its own item; others may only accuse it. The head changes only by
 * "generation g+1 where it is g", so that at most one list is ever sealed under a number.
 */

/** `waiting`: in `enter`, ready to be sealed. `training`: has entered a generation. `left`: will not come back. */
export type MemberState = "waiting" | "training" | "left";

export interface MemberRecord {
  readonly memberId: string;
  /** Drawn at random by each process: a restarted worker is not the one before it, though it may bear the same id. */
  readonly incarnation: string;
  /** Counts how often this incarnation has registered; an accusation holds against one registration alone. */
  readonly registration: number;
  readonly state: MemberState;
  /** Generation that it is training in; 0 before the first. */
  readonly generation: number;
  readonly workerIndex: number;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly finishedSteps: number;
  /** Milliseconds since the epoch, of this registration. */
  readonly registeredAt: number;
  /** Milliseconds since the epoch; past it the member counts as lost. */
  readonly leaseExpiresAt: number;
  /** Another member lost the connection to it, under this registration. */
  readonly accused: boolean;
  /** Whom it failed to connect to, more than once; absent where nobody. */
  readonly unreachable?: readonly Unreachable[];
}

export interface Unreachable {
  readonly memberId: string;
  /** Milliseconds since the epoch; from then on the two may try again. */
  readonly until: number;
}

export interface SealedMember {
  readonly memberId: string;
  readonly incarnation: string;
  readonly registration: number;
  readonly workerIndex: number;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly finishedSteps: number;
}

export interface GangHead {
  /** From 1. */
  readonly number: number;
  /** A member's rank is its place here. */
  readonly members: readonly SealedMember[];
  /** Secret of this generation's connections. */
  readonly token: string;
  /** The run's result is stored; there is nothing to enter for. */
  readonly completed: boolean;
  /** Milliseconds since the epoch. */
  readonly sealedAt: number;
}

/** One strongly consistent look at the store. */
export interface GangView {
  /** `undefined` before the first generation. */
  readonly head: GangHead | undefined;
  readonly members: readonly MemberRecord[];
}
