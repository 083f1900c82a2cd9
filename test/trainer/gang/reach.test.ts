import { decide, monitor } from "../../../trainer-container/gang/decide";
import { ReachMemory, thatCanMeet } from "../../../trainer-container/gang/members";
import type { MemberRecord } from "../../../trainer-container/gang/store";
import { defaultRendezvousTiming as timing } from "../../../trainer-container/gang/timing";
import { head, member } from "./store-contract";

const now = 1_800_000_100_000;
const later = now + 10_000;

/** Worker i, waiting, who cannot reach those of these indexes. */
const worker = (workerIndex: number, cannotReach: readonly number[] = [], overrides: Partial<MemberRecord> = {}) =>
  member({
    memberId: `job:${workerIndex}/1`,
    workerIndex,
    registeredAt: now,
    leaseExpiresAt: now + timing.leaseMs,
    ...(cannotReach.length > 0 && {
      unreachable: cannotReach.map((index) => ({ memberId: `job:${index}/1`, until: later })),
    }),
    ...overrides,
  });

const indexes = (members: readonly { readonly workerIndex: number }[]) => members.map(({ workerIndex }) => workerIndex);

describe("thatCanMeet", () => {
  const fresh = { finishedSteps: 0 };
  it.each<[string, readonly MemberRecord[], readonly number[]]>([
    ["all where nobody complains", [worker(0), worker(1), worker(2)], [0, 1, 2]],
    ["all but the later of a pair", [worker(0), worker(1, [2]), worker(2)], [0, 1]],
    ["the same whichever of the pair reports it", [worker(0), worker(1), worker(2, [1])], [0, 1]],
    ["all but the one that nobody reaches, though it is first", [worker(0), worker(1, [0]), worker(2, [0])], [1, 2]],
    ["of a pair, the one that is a step ahead", [worker(0, [1]), worker(1, [], { finishedSteps: 13 })], [1]],
    [
      "the one that alone has the state, and whom it can meet",
      [worker(0, [1], fresh), worker(1), worker(2, [1], fresh), worker(3, [], fresh)],
      [1, 3],
    ],
    ["both of two broken pairs' halves", [worker(0, [1]), worker(1), worker(2, [3]), worker(3)], [0, 2]],
  ])("takes %s", (_, members, expected) => {
    expect(indexes(thatCanMeet(members, now))).toEqual(expected);
  });

  it("forgets what is past", () => {
    expect(indexes(thatCanMeet([worker(0, [1]), worker(1)], later))).toEqual([0, 1]);
  });
});

describe("ReachMemory", () => {
  it("keeps apart from the second failure in a row, twice as long each time, up to ten minutes", () => {
    const memory = new ReachMemory();
    const lasting = Array.from({ length: 9 }, () => {
      memory.failed("other", now);
      return memory.list(now).map(({ until }) => (until - now) / 1_000);
    });
    expect(lasting).toEqual([[], [15], [30], [60], [120], [240], [480], [600], [600]]);
    expect(memory.list(now + 600_000)).toEqual([]);
    memory.reached(["other"]);
    memory.failed("other", now);
    expect(memory.list(now)).toEqual([]);
  });
});

describe("with a broken link between 1 and 2 of three", () => {
  const members = [worker(0), worker(1, [2]), worker(2)];
  const decisionOf = (index: number, minWorkers = 1) => {
    const { memberId, incarnation, registration } = members[index]!;
    const limits = { minWorkers, maxWorkers: 3 };
    return decide({ head: undefined, members }, { memberId, incarnation, registration, past: 0 }, limits, timing, now);
  };

  it("a generation is sealed of those that can meet", () => {
    const decision = decisionOf(0);
    expect(decision.kind === "seal" && indexes(decision.members)).toEqual([0, 1]);
    expect(decisionOf(2)).toEqual({ kind: "wait", reason: "it and another cannot reach each other" });
  });

  it("all are tried where fewer may not train", () => {
    const decision = decisionOf(0, 3);
    expect(decision.kind === "seal" && indexes(decision.members)).toEqual([0, 1, 2]);
  });

  it("a generation is not ended for a joiner that it cannot reach, until it is time to try again", () => {
    const inside = members.slice(0, 2).map((one) => ({ ...one, state: "training" as const, generation: 1 }));
    const records = {
      head: head(1, { members: inside }),
      members: [...inside, { ...members[2]!, leaseExpiresAt: later + 1 }],
    };
    const limits = { minWorkers: 1, maxWorkers: 3 };
    expect(monitor(records, 1, limits, timing, now)).toBe("quiet");
    expect(monitor(records, 1, limits, timing, later)).toBe("joiner");
  });
});
