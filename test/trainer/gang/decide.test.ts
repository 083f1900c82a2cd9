import { type Decision, decide, type GangLimits, monitor } from "../../../trainer-container/gang/decide";
import { stateSource } from "../../../trainer-container/gang/gang";
import type { GangHead, GangRecords, MemberRecord } from "../../../trainer-container/gang/store";
import { defaultRendezvousTiming as timing } from "../../../trainer-container/gang/timing";
import { head as someHead, member as someMember } from "./store-contract";

const now = 1_800_000_100_000;

/** Worker i, waiting, registered `agoMs` ago, its lease fresh. */
const worker = (workerIndex: number, agoMs = 0, overrides: Partial<MemberRecord> = {}): MemberRecord =>
  someMember({
    memberId: `job:${workerIndex}/1`,
    workerIndex,
    registeredAt: now - agoMs,
    leaseExpiresAt: now + timing.leaseMs,
    ...overrides,
  });

/** Generation `number` of these registrations. */
const sealed = (number: number, ...members: readonly MemberRecord[]): GangHead => someHead(number, { members });

const training = (workerIndex: number, overrides: Partial<MemberRecord> = {}) =>
  worker(workerIndex, 60_000, { state: "training", generation: 1, ...overrides });

/** Back in `enter` after generation 1. */
const back = (workerIndex: number, agoMs = 0, overrides: Partial<MemberRecord> = {}) =>
  worker(workerIndex, agoMs, { registration: 2, ...overrides });

const lapsed = { leaseExpiresAt: now - 1 };
const longExpired = { leaseExpiresAt: now - timing.trainingGraceMs - 1 };

function decisionOf(
  me: MemberRecord,
  records: GangRecords,
  { past = 0, limits = { minWorkers: 1, maxWorkers: 3 } as GangLimits } = {},
): Decision {
  const { memberId, incarnation, registration } = me;
  return decide(records, { memberId, incarnation, registration, past }, limits, timing, now);
}

const ranks = (decision: Decision) =>
  decision.kind === "seal" ? decision.members.map(({ workerIndex }) => workerIndex) : decision;

describe("decide", () => {
  describe("at the first formation", () => {
    it("seals at once when all expected workers are here, in the order of their indexes", () => {
      const members = [worker(2), worker(0), worker(1)];
      expect(ranks(decisionOf(members[1]!, { head: undefined, members }))).toEqual([0, 1, 2]);
    });

    it.each([
      ["waits for the last call with one of three", [2_999], { kind: "wait", reason: "last call" }],
      ["seals with one of three after the last call", [3_000], [0]],
      ["counts the last call from the first that made the minimum", [5_000, 2_000], [0, 1]],
    ])("%s", (_, ages, expected) => {
      const members = ages.map((age, i) => worker(i, age));
      expect(ranks(decisionOf(members[0]!, { head: undefined, members }))).toEqual(expected);
    });

    it("waits below the minimum, however long", () => {
      const members = [worker(0, 3_600_000)];
      const limits = { minWorkers: 2, maxWorkers: 3 };
      expect(decisionOf(members[0]!, { head: undefined, members }, { limits })).toEqual({
        kind: "wait",
        reason: "1 of at least 2 workers are here",
      });
    });

    it("does not count members that left, are reported lost or have expired", () => {
      const members = [worker(0, 3_000), worker(1, 0, { state: "left" }), worker(2, 0, { accused: true })];
      const records = { head: undefined, members: [...members, worker(3, 0, lapsed)] };
      expect(ranks(decisionOf(members[0]!, records))).toEqual([0]);
    });

    it("leaves the first turn to the first in line", () => {
      const members = [worker(0, timing.turnMs - 1), worker(1, timing.turnMs - 1), worker(2, timing.turnMs - 1)];
      const records = { head: undefined, members };
      expect(decisionOf(members[0]!, records).kind).toBe("seal");
      expect(decisionOf(members[1]!, records).kind).toBe("wait");
      const later = { head: undefined, members: members.map((m) => ({ ...m, registeredAt: now - timing.turnMs })) };
      expect(decisionOf(members[1]!, later).kind).toBe("seal");
    });
  });

  describe("at a re-formation", () => {
    const one = sealed(1, training(0), training(1), training(2));

    it("goes at once when every survivor is back and the lost one was reported", () => {
      const records = { head: one, members: [back(0), back(1), training(2, { accused: true })] };
      expect(decisionOf(records.members[0]!, records, { past: 1 })).toMatchObject({ kind: "seal", number: 2 });
    });

    it("waits for a survivor that may come, but not long", () => {
      const members = (age: number) => [back(0, age), training(1), training(2, { accused: true })];
      expect(decisionOf(back(0), { head: one, members: members(299) }, { past: 1 })).toMatchObject({ kind: "wait" });
      expect(ranks(decisionOf(back(0), { head: one, members: members(300) }, { past: 1 }))).toEqual([0]);
    });

    it("takes a joiner along", () => {
      const records = { head: one, members: [back(0), back(2), training(1, { state: "left" }), worker(7)] };
      expect(ranks(decisionOf(records.members[0]!, records, { past: 1 }))).toEqual([0, 2, 7]);
    });

    it("prefers those that hold the state where not all fit", () => {
      const records = { head: one, members: [worker(0, 0, { memberId: "new" }), back(1), back(2)] };
      const limits = { minWorkers: 1, maxWorkers: 2 };
      expect(ranks(decisionOf(records.members[1]!, records, { past: 1, limits }))).toEqual([1, 2]);
    });

    it("is not begun by an outsider while members may still be at work", () => {
      const joiner = worker(7, 60_000);
      for (const members of [
        [training(0), training(1), training(2)],
        [training(0), training(1, { accused: true }), training(2, longExpired)],
        [training(0, lapsed), training(1, lapsed), training(2, lapsed)],
      ]) {
        const decision = decisionOf(joiner, { head: one, members: [...members, joiner] });
        expect(decision).toEqual({ kind: "wait", reason: "generation 1 is training" });
      }
    });

    it("is begun by outsiders when all members are gone: by their leases, sooner where others took their places", () => {
      const joiners = [0, 1, 2].map((i) => worker(i, 4_000, { memberId: `another:${i}/1` }));
      for (const gone of [longExpired, lapsed]) {
        const records = { head: one, members: [training(0, gone), training(1, gone), training(2, gone), ...joiners] };
        expect(ranks(decisionOf(joiners[0]!, records))).toEqual([0, 1, 2]);
      }
    });

    it("is begun at once where later attempts of the same jobs are here, whatever the leases of the dead say", () => {
      const again = [0, 1, 2].map((i) => worker(i, 0, { memberId: `job:${i}/10` }));
      const dead = [training(0), training(1, { memberId: "job:1/9" }), training(2)];
      const head = sealed(1, ...dead);
      expect(ranks(decisionOf(again[0]!, { head, members: [...dead, ...again] }))).toEqual([0, 1, 2]);
      // One of them has no successor yet: it may still be at work.
      const two = again.slice(0, 2);
      expect(decisionOf(again[0]!, { head, members: [...dead, ...two] })).toMatchObject({ kind: "wait" });
      // An attempt of another job succeeds nobody.
      for (const memberId of ["job:0", "other:0/3", "job:10/2"]) {
        const other = worker(0, 0, { memberId });
        const records = { head: sealed(1, dead[0]!), members: [dead[0]!, other] };
        expect(decisionOf(other, records)).toMatchObject({ kind: "wait" });
      }
    });
  });

  describe("about itself", () => {
    const me = worker(0);

    it("enters the list that has it, by rank", () => {
      const head = sealed(4, worker(1), me);
      expect(decisionOf(me, { head, members: [me] }, { past: 3 })).toEqual({ kind: "enter", head, rank: 1 });
    });

    it("enters also if it has registered again since that list was written", () => {
      const head = sealed(4, me);
      const again = worker(0, 0, { registration: 2 });
      expect(decisionOf(again, { head, members: [again] }, { past: 3 })).toMatchObject({ kind: "enter" });
    });

    it("does not enter a list of the process before it, nor one that is past", () => {
      const before = sealed(4, worker(0, 0, { incarnation: "before" }));
      expect(decisionOf(me, { head: before, members: [me] })).toMatchObject({ kind: "seal", number: 5 });
      const again = worker(0, 0, { registration: 2 });
      expect(decisionOf(again, { head: sealed(4, me), members: [again] }, { past: 4 })).toMatchObject({ kind: "seal" });
    });

    it.each([
      ["missing", []],
      ["reported lost", [worker(0, 0, { accused: true })]],
      ["lapsed", [worker(0, 0, lapsed)]],
      ["of an earlier registration", [worker(0, 0, { registration: 0 })]],
    ])("registers again if its item is %s", (_, members) => {
      expect(decisionOf(me, { head: undefined, members })).toEqual({ kind: "register" });
    });

    it("gives way to another process under its id, and to a later attempt of its job, whatever list it is in", () => {
      const other = [worker(0, 0, { incarnation: "b" })];
      expect(decisionOf(me, { head: undefined, members: other })).toEqual({ kind: "superseded" });
      const later = [me, worker(0, 0, { memberId: "job:0/2" })];
      expect(decisionOf(me, { head: sealed(4, me), members: later })).toEqual({ kind: "superseded" });
    });

    it("learns that the run is complete, before anything else", () => {
      const head = { ...sealed(4, me), completed: true };
      expect(decisionOf(me, { head, members: [] })).toEqual({ kind: "completed" });
    });
  });
});

describe("monitor", () => {
  const limits = { minWorkers: 1, maxWorkers: 3 };
  const inside = [training(0), training(1)];
  const one = sealed(1, ...inside);
  it.each<[string, GangHead | undefined, readonly MemberRecord[], ReturnType<typeof monitor>]>([
    ["nobody new", one, inside, "quiet"],
    ["one that waits", one, [...inside, worker(2)], "joiner"],
    ["one that waited and died", one, [...inside, worker(2, 0, lapsed)], "quiet"],
    ["one astray in an earlier generation", one, [...inside, training(2, { generation: 0 })], "quiet"],
    ["one that waits, but no room", sealed(1, ...inside, training(2)), [...inside, worker(3)], "quiet"],
    ["a later generation", sealed(2, training(0)), inside, "superseded"],
    ["no head (its item was deleted)", undefined, inside, "quiet"],
  ])("sees %s", (_, head, members, expected) => {
    expect(monitor({ head, members }, 1, limits, timing, now)).toBe(expected);
  });
});

describe("stateSource", () => {
  it.each([
    [[5, 5], { source: 0, finishedSteps: 5, behind: [] }],
    [[4, 5, 5], { source: 1, finishedSteps: 5, behind: [0] }],
    [[0, 0, 7, 6], { source: 2, finishedSteps: 7, behind: [0, 1, 3] }],
  ])("of %p is the furthest, on ties the lowest rank", (finishedSteps, expected) => {
    expect(stateSource(finishedSteps)).toEqual(expected);
  });
});
