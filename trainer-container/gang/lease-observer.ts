import type { Clock } from "../../core/ports";
import type { GangRecords, GangStore, MemberRecord } from "./store";

interface Seen {
  readonly incarnation: string;
  readonly registration: number;
  readonly written: number;
  /** Milliseconds since the epoch, of this process's own clock. */
  readonly until: number;
}

/**
 * Measures leases by this process's own clock, because the owner's may be wrong: a change between two reads extends the
 * lease by `leaseMs`. The written time counts only for a process not seen before, up to one lease ahead.
 */
export class LeaseObserver {
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly leaseMs: number) {}

  /** Returns the records with each `leaseExpiresAt` by the own clock. */
  observe(records: GangRecords, now: number): GangRecords {
    return {
      ...records,
      members: records.members.map((member) => ({ ...member, leaseExpiresAt: this.until(member, now) })),
    };
  }

  private until(member: MemberRecord, now: number): number {
    const { memberId, incarnation, registration, leaseExpiresAt: written } = member;
    const before = this.seen.get(memberId);
    const sameProcess = before?.incarnation === incarnation;
    if (sameProcess && before.registration === registration && before.written === written) return before.until;
    const full = now + this.leaseMs;
    const until = sameProcess ? full : Math.min(written, full);
    this.seen.set(memberId, { incarnation, registration, written, until });
    return until;
  }
}

/** Wraps a store so that leases are measured by this process's own clock: clocks of hosts may differ by more than a lease. */
export function byOwnClock(store: GangStore, clock: Clock, leaseMs: number): GangStore {
  const leases = new LeaseObserver(leaseMs);
  return Object.assign(Object.create(store) as GangStore, {
    read: async (gangId: string) => leases.observe(await store.read(gangId), clock.now()),
  });
}
