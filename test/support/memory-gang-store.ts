import { isSameRegistration } from "../../trainer-container/gang/members";
import type {
  GangHead,
  GangRecords,
  GangStore,
  MemberRecord,
  RegistrationKey,
} from "../../trainer-container/gang/store";

/** The store's meaning in its plainest form: what the contract suite and the simulations run on. */
export class MemoryGangStore implements GangStore {
  private readonly heads = new Map<string, GangHead>();
  private readonly members = new Map<string, Map<string, MemberRecord>>();

  async read(gangId: string): Promise<GangRecords> {
    return this.records(gangId);
  }

  async readHead(gangId: string, memberId: string): Promise<GangRecords> {
    return this.readHeadAt(gangId, memberId);
  }

  records(gangId: string): GangRecords {
    return { head: this.headOf(gangId), members: [...this.of(gangId).values()] };
  }

  readHeadAt(gangId: string, memberId: string): GangRecords {
    const own = this.of(gangId).get(memberId);
    return { head: this.headOf(gangId), members: own ? [own] : [] };
  }

  headOf(gangId: string): GangHead | undefined {
    return this.heads.get(gangId);
  }

  countOf(gangId: string): number {
    return this.of(gangId).size;
  }

  async register(gangId: string, member: MemberRecord): Promise<boolean> {
    const stored = this.of(gangId).get(member.memberId);
    if (stored && stored.incarnation !== member.incarnation && stored.registeredAt > member.registeredAt) return false;
    this.of(gangId).set(member.memberId, member);
    return true;
  }

  async renew(gangId: string, key: RegistrationKey, leaseExpiresAt: number): Promise<boolean> {
    const stored = this.of(gangId).get(key.memberId);
    if (!stored || !isSameRegistration(stored, key)) return false;
    this.of(gangId).set(key.memberId, { ...stored, leaseExpiresAt });
    return true;
  }

  async reportLost(gangId: string, key: RegistrationKey): Promise<boolean> {
    const stored = this.of(gangId).get(key.memberId);
    if (!stored || !isSameRegistration(stored, key) || stored.accused) return false;
    this.of(gangId).set(key.memberId, { ...stored, accused: true });
    return true;
  }

  async seal(gangId: string, head: GangHead): Promise<boolean> {
    const stored = this.heads.get(gangId);
    if ((stored?.number ?? 0) !== head.number - 1 || stored?.completed) return false;
    this.heads.set(gangId, head);
    return true;
  }

  async complete(gangId: string): Promise<void> {
    const stored = this.heads.get(gangId);
    if (stored) this.heads.set(gangId, { ...stored, completed: true });
  }

  private of(gangId: string): Map<string, MemberRecord> {
    const members = this.members.get(gangId) ?? new Map<string, MemberRecord>();
    this.members.set(gangId, members);
    return members;
  }
}
