import type { GangView, MemberRecord } from "./model";

interface Seen {
  readonly incarnation: string;
  readonly registration: number;
  readonly written: number;
  /** Milliseconds since the epoch, of this process's own clock. */
  readonly until: number;
}

/**
 * Leases by this process's own clock. A lease's end is written by its owner's clock, which may be wrong: one that is some seconds slow would
 * never seem to be here, one that is fast would seem to live on. What is certain is that an item that has changed between two looks
 * was changed by a living process; its lease then lasts for `leaseMs` from the look that saw it. Only of a process never seen before
 * is the written time believed, and no further than a whole lease ahead.
 */
export class LeaseObserver {
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly leaseMs: number) {}

  /** The view with each `leaseExpiresAt` as of the own clock. */
  observe(view: GangView, now: number): GangView {
    return { ...view, members: view.members.map((member) => ({ ...member, leaseExpiresAt: this.until(member, now) })) };
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
