import { inlineMembers } from "../../../trainer-container/gang/dynamodb-store";
import type { GangHead, GangRecords, GangStore } from "../../../trainer-container/gang/store";
import { MemoryGangStore } from "../memory-gang-store";
import type { Partition } from "./partition";

function itemBytes(item: object): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += name.length + valueBytes(value);
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "number") return 1 + Math.ceil(String(value).length / 2);
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + 1 + valueBytes(each), 3);
  if (value !== null && typeof value === "object") return 3 + itemBytes(value);
  return 1;
}

/** Size of `pk`, `sk` and `expiresAt`. */
const keyBytes = 90;
/** Size of a member in a compressed list: two thirds are its random incarnation. */
const rosterBytes = 60;

function isSeparate(head: GangHead): boolean {
  return head.members.length > inlineMembers;
}

/** The gangs' table as `trainer-container/gang/dynamodb-store.ts` uses it, call by call and byte by byte, over one partition. */
export class SimulatedTable {
  private readonly inner = new MemoryGangStore();
  private readonly measured = new WeakMap<GangHead, number>();
  private memberBytes = 0;

  constructor(private readonly partition: Partition) {}

  /** Returns the client of one process. A dead process sends nothing, but its earlier requests may still be executed. */
  client(alive: () => boolean): GangStore {
    const { inner, partition } = this;
    let rosterOf = 0;
    const withRoster = async (records: GangRecords): Promise<GangRecords> => {
      const { head } = records;
      if (head && head.number !== rosterOf && isSeparate(head)) {
        const bytes = head.members.length * rosterBytes;
        await partition.read(
          false,
          () => bytes,
          () => {},
        );
        rosterOf = head.number;
      }
      return records;
    };
    const write = <T>(bytes: number, run: () => Promise<T>): Promise<T> => partition.write(bytes, run);
    const ask = <T>(call: () => Promise<T>): Promise<T> => (alive() ? call() : new Promise<never>(() => {}));
    return {
      read: (gangId) =>
        ask(async () => {
          const bytes = () => this.headBytes(inner.headOf(gangId)) + inner.countOf(gangId) * this.memberBytes;
          return withRoster(await partition.read(true, bytes, () => inner.records(gangId)));
        }),
      readHead: (gangId, memberId) =>
        ask(async () => {
          // Each item of a batch is rounded up separately; the own one takes one unit.
          const bytes = () => 4_096 * (1 + Math.max(1, Math.ceil(this.headBytes(inner.headOf(gangId)) / 4_096)));
          return withRoster(await partition.read(true, bytes, () => inner.readHeadAt(gangId, memberId)));
        }),
      register: (gangId, member) =>
        ask(() => {
          this.memberBytes = Math.max(this.memberBytes, itemBytes(member) + keyBytes);
          return write(this.memberBytes, () => inner.register(gangId, member));
        }),
      renew: (gangId, key, lease) => ask(() => write(this.memberBytes, () => inner.renew(gangId, key, lease))),
      reportLost: (gangId, key) => ask(() => write(this.memberBytes, () => inner.reportLost(gangId, key))),
      seal: (gangId, head) =>
        ask(async () => {
          if (isSeparate(head)) await write(head.members.length * rosterBytes, async () => true);
          return write(this.headBytes(head), () => inner.seal(gangId, head));
        }),
      complete: (gangId) => ask(() => write(keyBytes, () => inner.complete(gangId))),
    };
  }

  private headBytes(head: GangHead | undefined): number {
    if (!head) return 0;
    const earlier = this.measured.get(head);
    if (earlier !== undefined) return earlier;
    const bytes = isSeparate(head) ? 2 * keyBytes : itemBytes(head) + keyBytes;
    this.measured.set(head, bytes);
    return bytes;
  }
}
