import type { GangHead, GangStore, MemberRecord } from "../../../trainer-container/gang/store";

export const member = (overrides: Partial<MemberRecord> = {}): MemberRecord => ({
  memberId: "job:0/1",
  incarnation: "a",
  registration: 1,
  state: "waiting",
  generation: 0,
  workerIndex: 0,
  host: "10.0.0.7",
  port: 40_001,
  pid: 17,
  finishedSteps: 12,
  registeredAt: 1_800_000_000_000,
  leaseExpiresAt: 1_800_000_006_000,
  accused: false,
  ...overrides,
});

const { memberId, incarnation, registration, workerIndex, host, port, pid, finishedSteps } = member();

export const head = (number: number, overrides: Partial<GangHead> = {}): GangHead => ({
  number,
  members: [{ memberId, incarnation, registration, workerIndex, host, port, pid, finishedSteps }],
  token: "secret",
  completed: false,
  sealedAt: 1_800_000_001_000,
  ...overrides,
});

export function gangStoreContract(open: () => GangStore): void {
  let store: GangStore;
  let gangId: string;
  let gangs = 0;
  beforeEach(() => {
    store = open();
    gangId = `contract-${gangs++}`;
  });

  const key = (overrides: Partial<MemberRecord> = {}) => {
    const { memberId, incarnation, registration } = member(overrides);
    return { memberId, incarnation, registration };
  };
  const stored = async (memberId = "job:0/1") =>
    (await store.read(gangId)).members.find((each) => each.memberId === memberId);

  it("reads an unknown gang as empty", async () => {
    expect(await store.read(gangId)).toEqual({ head: undefined, members: [] });
  });

  it("gives back what was written, and keeps gangs apart", async () => {
    const other = member({ memberId: "job:1/1", workerIndex: 1 });
    await store.register(gangId, member());
    await store.register(gangId, other);
    await store.register(`${gangId}-2`, member({ memberId: "stranger" }));
    await store.seal(gangId, head(1));
    const records = await store.read(gangId);
    expect(records.head).toEqual(head(1));
    expect([...records.members].sort((a, b) => a.workerIndex - b.workerIndex)).toEqual([member(), other]);
  });

  it("reads a gang of a thousand whole", async () => {
    const ids = Array.from({ length: 1_000 }, (_, i) => `job:${i}/1`);
    // One page of DynamoDB holds 1 MB: long hosts make it overflow.
    const host = "h".repeat(1_500);
    for (let i = 0; i < ids.length; i += 50) {
      await Promise.all(ids.slice(i, i + 50).map((memberId) => store.register(gangId, member({ memberId, host }))));
    }
    expect((await store.read(gangId)).members.map(({ memberId }) => memberId).sort()).toEqual([...ids].sort());
  });

  it("lets an incarnation overwrite its own item at any time", async () => {
    await store.register(gangId, member());
    expect(await store.register(gangId, member({ registration: 2, state: "training", generation: 4 }))).toBe(true);
    expect(await stored()).toEqual(member({ registration: 2, state: "training", generation: 4 }));
  });

  it("lets a later process take a member's place, and keeps the earlier one out", async () => {
    await store.register(gangId, member());
    const later = member({ incarnation: "b", registeredAt: member().registeredAt + 1 });
    expect(await store.register(gangId, later)).toBe(true);
    expect(await store.register(gangId, member({ registration: 2 }))).toBe(false);
    expect(await stored()).toEqual(later);
  });

  it("renews the lease of the stored registration only", async () => {
    await store.register(gangId, member());
    expect(await store.renew(gangId, key(), 1_800_000_009_000)).toBe(true);
    expect(await stored()).toEqual(member({ leaseExpiresAt: 1_800_000_009_000 }));
    expect(await store.renew(gangId, key({ registration: 2 }), 5)).toBe(false);
    expect(await store.renew(gangId, key({ incarnation: "b" }), 5)).toBe(false);
    expect(await store.renew(gangId, key({ memberId: "nobody" }), 5)).toBe(false);
    expect((await store.read(gangId)).members).toEqual([member({ leaseExpiresAt: 1_800_000_009_000 })]);
  });

  it("reports a registration as lost once, and never a later one", async () => {
    await store.register(gangId, member());
    expect(await store.reportLost(gangId, key())).toBe(true);
    expect(await store.reportLost(gangId, key())).toBe(false);
    expect(await stored()).toEqual(member({ accused: true }));
    await store.register(gangId, member({ registration: 2 }));
    expect(await store.reportLost(gangId, key())).toBe(false);
    expect(await store.reportLost(gangId, key({ memberId: "nobody" }))).toBe(false);
    expect(await stored()).toEqual(member({ registration: 2 }));
  });

  it("keeps a loss report through a renewal", async () => {
    await store.register(gangId, member());
    await store.reportLost(gangId, key());
    await store.renew(gangId, key(), 1_800_000_009_000);
    expect(await stored()).toMatchObject({ accused: true });
  });

  it("seals each number once, in order", async () => {
    expect(await store.seal(gangId, head(2))).toBe(false);
    expect(await store.seal(gangId, head(1))).toBe(true);
    expect(await store.seal(gangId, head(1, { token: "other" }))).toBe(false);
    expect(await store.seal(gangId, head(3))).toBe(false);
    expect((await store.read(gangId)).head).toEqual(head(1));
    expect(await store.seal(gangId, head(2))).toBe(true);
  });

  it("lets one of many seal", async () => {
    await store.seal(gangId, head(1));
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, i) => store.seal(gangId, head(2, { token: `${i}` }))),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect((await store.read(gangId)).head?.token).toBe(`${outcomes.indexOf(true)}`);
  });

  it("seals nothing after completion", async () => {
    await store.seal(gangId, head(1));
    await store.complete(gangId);
    await store.complete(gangId);
    expect((await store.read(gangId)).head).toEqual(head(1, { completed: true }));
    expect(await store.seal(gangId, head(2))).toBe(false);
  });

  it("reads the head and one member's own item", async () => {
    expect(await store.readHead(gangId, "job:0/1")).toEqual({ head: undefined, members: [] });
    await store.register(gangId, member());
    await store.register(gangId, member({ memberId: "job:1/1", workerIndex: 1 }));
    expect(await store.readHead(gangId, "job:0/1")).toEqual({ head: undefined, members: [member()] });
    await store.seal(gangId, head(1));
    expect(await store.readHead(gangId, "job:1/1")).toMatchObject({ head: head(1), members: [{ workerIndex: 1 }] });
    expect(await store.readHead(gangId, "nobody")).toEqual({ head: head(1), members: [] });
  });

  it("keeps lists of a thousand, one after another", async () => {
    const thousand = (number: number) => {
      const members = Array.from({ length: 1_000 }, (_, i) => ({
        ...head(1).members[0]!,
        memberId: `job:${i}/${number}`,
      }));
      return head(number, { members, token: `token-${number}` });
    };
    expect(await store.seal(gangId, thousand(1))).toBe(true);
    expect(await store.seal(gangId, { ...thousand(1), token: "late" })).toBe(false);
    expect((await store.readHead(gangId, "nobody")).head).toEqual(thousand(1));
    expect(await store.seal(gangId, thousand(2))).toBe(true);
    expect((await store.read(gangId)).head).toEqual(thousand(2));
    await store.complete(gangId);
    expect((await store.read(gangId)).head).toEqual({ ...thousand(2), completed: true });
  });

  it("completes no gang that never formed", async () => {
    await store.complete(gangId);
    expect((await store.read(gangId)).head).toBeUndefined();
  });
}
