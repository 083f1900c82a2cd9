/**
 * A gang's items: one *head*, the sealed list of the current generation, and one item per *member*, which only that
 * member writes, except to report it lost. The head changes only from g to g + 1.
 */

/** `waiting`: in `enter`, ready to be sealed. `training`: has entered a generation. `left`: does not come back. */
export type MemberState = "waiting" | "training" | "left";

export interface MemberRecord {
  readonly memberId: string;
  /** Drawn at random by each process, so a restarted worker with the same id is distinguishable. */
  readonly incarnation: string;
  /** Number of registrations of this incarnation. A loss report applies to one registration only. */
  readonly registration: number;
  readonly state: MemberState;
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
  /** Another member lost the connection to it, under this registration, and reported it as lost. */
  readonly accused: boolean;
  /** Members to which it failed to connect more than once; absent if there are none. */
  readonly unreachable?: readonly Unreachable[];
}

export interface Unreachable {
  readonly memberId: string;
  /** Milliseconds since the epoch. After this time the two may try again. */
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
  /** A member's rank is its position here. */
  readonly members: readonly SealedMember[];
  /** Secret of this generation's connections. */
  readonly token: string;
  /** The run's result is stored. There is nothing left to do. */
  readonly completed: boolean;
  /** Milliseconds since the epoch. */
  readonly sealedAt: number;
}

export interface GangRecords {
  /** `undefined` before the first generation. */
  readonly head: GangHead | undefined;
  readonly members: readonly MemberRecord[];
}

/** One registration of one process of a member. */
export interface RegistrationKey {
  readonly memberId: string;
  readonly incarnation: string;
  readonly registration: number;
}

/** The table `Gangs`. Reads are strongly consistent; a write returns false if its condition fails. */
export interface GangStore {
  read(gangId: string): Promise<GangRecords>;
  /** Reads the head and one member's own item only. A member of a large gang does this between its turns. */
  readHead(gangId: string, memberId: string): Promise<GangRecords>;
  /** Writes the member's item, unless an incarnation registered later under the same id: they never alternate. */
  register(gangId: string, member: MemberRecord): Promise<boolean>;
  /** Extends the lease of one registration; false if it is no longer the stored one. */
  renew(gangId: string, key: RegistrationKey, leaseExpiresAt: number): Promise<boolean>;
  /** Marks another member's registration as lost; false if that member has registered again or is already marked. */
  reportLost(gangId: string, key: RegistrationKey): Promise<boolean>;
  /** Seals generation `head.number` if the stored one is `head.number - 1`; false after a lost race or completion. */
  seal(gangId: string, head: GangHead): Promise<boolean>;
  /** Marks the gang completed, in any generation. Idempotent. Does nothing to a gang without a head. */
  complete(gangId: string): Promise<void>;
}
