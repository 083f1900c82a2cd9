import { LeaseObserver } from "../../../trainer-container/gang/lease-observer";
import type { MemberRecord } from "../../../trainer-container/gang/store";
import { member } from "./store-contract";

const leaseMs = 6_000;

/** The observer's answers for one member, read by read: its own time, and the item at that time. */
function untils(looks: readonly (readonly [now: number, written: Partial<MemberRecord>])[]): readonly number[] {
  const observer = new LeaseObserver(leaseMs);
  return looks.map(([now, written]) => {
    const records = observer.observe({ head: undefined, members: [member(written)] }, now);
    return records.members[0]!.leaseExpiresAt;
  });
}

describe("LeaseObserver", () => {
  it("believes what is written of a process that it has not seen before, up to a whole lease", () => {
    expect(untils([[100_000, { leaseExpiresAt: 103_000 }]])).toEqual([103_000]);
    expect(untils([[100_000, { leaseExpiresAt: 90_000 }]])).toEqual([90_000]);
    expect(untils([[100_000, { leaseExpiresAt: 160_000 }]])).toEqual([106_000]);
  });

  it.each([
    ["slow", -30_000],
    ["right", 0],
    ["fast", 30_000],
  ])("keeps a member whose clock is %s for a lease from each renewal that it sees", (_, offset) => {
    const renewed = (at: number) => ({ leaseExpiresAt: at + offset + leaseMs });
    const seen = untils([
      [100_000, renewed(100_000)],
      [102_500, renewed(102_000)],
      [104_100, renewed(104_000)],
    ]);
    expect(seen.slice(1)).toEqual([108_500, 110_100]);
  });

  it("lets the lease of a member that stopped renewing expire, however far ahead it is written", () => {
    const dead = { leaseExpiresAt: 130_000 };
    expect(untils([100_000, 103_000, 107_000].map((now) => [now, dead]))).toEqual([106_000, 106_000, 106_000]);
  });

  it.each([
    ["counts a new registration as a sign of life", { registration: 2 }, 107_000],
    ["does not count another process under the same id", { incarnation: "b" }, 90_000],
  ])("%s", (_, changed, expected) => {
    const past = { leaseExpiresAt: 90_000 };
    const looks = [
      [100_000, past],
      [101_000, { ...past, ...changed }],
    ] as const;
    expect(untils(looks)).toEqual([90_000, expected]);
  });
});
