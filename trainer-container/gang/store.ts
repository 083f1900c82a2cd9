import type { GangHead, GangView, MemberRecord } from "./model";

/** One registration of one process of a member. */
export interface RegistrationKey {
  readonly memberId: string;
  readonly incarnation: string;
  readonly registration: number;
}

/**
 * The port to the table `Gangs`. Reads are strongly consistent. Every write is conditional or touches only the writer's
 * own item. A write returns false if its condition fails, which is not an error.
 */
export interface GangStore {
  read(gangId: string): Promise<GangView>;
  /** Reads the head and one member's own item only. A member of a large gang does this between its turns. */
  readHead(gangId: string, memberId: string): Promise<GangView>;
  /**
   * Writes the member's whole item. It refuses to overwrite an incarnation that registered later under the same id, so
   * two processes never alternate.
   */
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
