import type { GangHead, GangView, MemberRecord } from "./model";

/** One registration of one process of a member. */
export interface RegistrationKey {
  readonly memberId: string;
  readonly incarnation: string;
  readonly registration: number;
}

/**
 * The port to the table `Gangs`. Reads are strongly consistent. Every write is conditional or touches only the writer's own item; "false" says
 * that its condition failed, which is an answer and not an error.
 */
export interface GangStore {
  read(gangId: string): Promise<GangView>;
  /** The head and one member's own item, and nothing else: what a member of a large gang looks at between its turns. */
  glance(gangId: string, memberId: string): Promise<GangView>;
  /**
   * Writes the member's own item, whole. It refuses to overwrite an incarnation that registered later under the same id: two processes
   * must not fight over one.
   */
  register(gangId: string, member: MemberRecord): Promise<boolean>;
  /** Extends the lease of one registration; false where it is no longer the stored one. */
  renew(gangId: string, key: RegistrationKey, leaseExpiresAt: number): Promise<boolean>;
  /** Marks another member's registration as lost; false where that member has registered anew since, or is marked already. */
  accuse(gangId: string, key: RegistrationKey): Promise<boolean>;
  /** Seals generation `head.number` where the stored one is `head.number - 1`; false where another was faster, or the gang completed. */
  seal(gangId: string, head: GangHead): Promise<boolean>;
  /** Marks the gang completed, whatever its generation; idempotent. Does nothing to a gang without a head. */
  complete(gangId: string): Promise<void>;
}
