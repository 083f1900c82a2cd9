import fc from "fast-check";
import {
  agree,
  covers,
  decodeRankState,
  encodeRankState,
  type Holding,
  heldSegments,
  neighbourOf,
  patientFormations,
  planTransfers,
  type RankState,
  shardSegment,
  slotSpans,
} from "../../../trainer-container/sharding/sharding";

/** Ranks of W that have all finished `step`, as a step leaves them. */
function ring(elements: number, worldSize: number, step: number): RankState[] {
  return Array.from({ length: worldSize }, (_, rank) => ({
    finishedSteps: step,
    waited: 0,
    holdings: slotSpans(elements, elements, worldSize, rank).map((span) => ({ ...span, step })),
  }));
}

describe("segments of a sharded optimizer", () => {
  it("are whole blocks of 1,024, balanced within one, and all of the parameters", () => {
    const ends = (parameters: number, world: number) => {
      const spans = Array.from({ length: world }, (_, rank) => shardSegment(parameters, world, rank));
      expect(spans.map(({ start }) => start)).toEqual([0, ...spans.slice(0, -1).map(({ end }) => end)]);
      return spans.map(({ end }) => end);
    };
    expect(ends(5_000, 1)).toEqual([5_000]);
    expect(ends(5_000, 2)).toEqual([2_048, 5_000]);
    expect(ends(4_096, 4)).toEqual([1_024, 2_048, 3_072, 4_096]);
    expect(ends(1_500, 3)).toEqual([0, 1_024, 1_500]);
  });

  it("lie on their owner and on the rank after it", () => {
    expect([0, 1, 2].map((rank) => heldSegments(3, rank).join())).toEqual(["0,2", "1,0", "2,1"]);
    expect(heldSegments(1, 0)).toEqual([0]);
    expect(heldSegments(2, 1)).toEqual([1, 0]);
    expect(neighbourOf(3, 2)).toBe(0);
  });

  it.each([
    [1, 1],
    [2, 1],
    [4, 0.5],
    [8, 0.25],
  ])("leave a rank of %i with %d of the slots", (world, share) => {
    const elements = 64 * 1_024;
    for (const { holdings } of ring(elements, world, 0)) {
      expect(holdings.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(elements * share);
    }
  });
});

describe("a rankState", () => {
  it("survives being sent as numbers", () => {
    const rankState: RankState = { finishedSteps: 7, waited: 2, holdings: [{ start: 0, end: 1_024, step: 7 }] };
    expect(decodeRankState(encodeRankState(rankState))).toEqual(rankState);
    expect(decodeRankState(encodeRankState({ finishedSteps: 0, waited: 0, holdings: [] })).holdings).toEqual([]);
  });

  it("covers the slots where its spans leave no gap", () => {
    const spans = [4, 0].map((start) => ({ start, end: start + 5 }));
    expect(covers(spans, 9)).toBe(true);
    expect(covers(spans, 10)).toBe(false);
    expect(covers([{ start: 1, end: 9 }], 9)).toBe(false);
    expect(covers([], 0)).toBe(true);
  });
});

describe("agree", () => {
  const elements = 8 * 1_024;
  const all = () => elements;
  const full = ring(elements, 4, 10);

  it("goes on from the furthest step where every segment has a holder", () => {
    expect(agree(full, all)).toEqual({ kind: "go-on", step: 10, source: 0, behind: [] });
    for (let lost = 0; lost < 4; lost += 1) {
      expect(agree(full.toSpliced(lost, 1), all)).toMatchObject({ kind: "go-on", step: 10 });
    }
    expect(agree([full[0]!, full[2]!], all)).toMatchObject({ kind: "go-on" });
  });

  it("restores those without a whole state where two neighbours went together", () => {
    const [first, last] = [full[0]!, full[3]!].map((rankState) => ({ ...rankState, waited: patientFormations }));
    expect(agree([first!, last!], all)).toEqual({ kind: "restore", step: 10, ranks: [0, 1] });
    const newcomer: RankState = { finishedSteps: 5, waited: 0, holdings: [{ start: 0, end: elements, step: 5 }] };
    expect(agree([first!, newcomer, last!], all)).toEqual({ kind: "restore", step: 10, ranks: [0, 2] });
    expect(agree([newcomer, { ...newcomer, finishedSteps: 0 }], all)).toMatchObject({ kind: "go-on", step: 5 });
  });

  it("waits for holders that may only be late, a few formations long", () => {
    const waited = (times: number) => ({ ...full[0]!, waited: times });
    expect(agree([waited(0), full[3]!], all)).toEqual({ kind: "wait", step: 10, waited: 0 });
    const times = patientFormations - 1;
    expect(agree([waited(times), full[3]!], all)).toEqual({ kind: "wait", step: 10, waited: times });
    expect(agree([waited(patientFormations), full[3]!], all)).toMatchObject({ kind: "restore" });
  });

  it("counts the pending step of those who did not finish what another finished", () => {
    const unfinished = ring(elements, 4, 9).map((rankState): RankState => {
      const pending = rankState.holdings.map((holding): Holding => ({ ...holding, step: 10 }));
      return { ...rankState, holdings: [...rankState.holdings, ...pending] };
    });
    const one = [unfinished[0]!, full[1]!, unfinished[3]!];
    expect(agree(one, all)).toEqual({ kind: "go-on", step: 10, source: 1, behind: [0, 2] });
    expect(agree(unfinished.toSpliced(2, 1), all)).toMatchObject({ kind: "go-on", step: 9, behind: [] });
  });

  it("needs no slots where the optimizer has none, or after the last step", () => {
    expect(agree([full[0]!, full[3]!], () => 0)).toMatchObject({ kind: "go-on", step: 10 });
  });
});

describe("planTransfers", () => {
  it("gives every rank its spans, from what it has itself as far as it can", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40_000 }),
        fc.integer({ min: 2, max: 8 }),
        fc.integer({ min: 0, max: 7 }),
        fc.integer({ min: 0, max: 3 }),
        (elements, before, lost, joiners) => {
          const survivors = ring(elements, before, 4).toSpliced(lost % before, 1);
          const newcomers = Array.from(
            { length: joiners },
            (): RankState => ({ finishedSteps: 0, waited: 0, holdings: [] }),
          );
          const rankStates = [...newcomers, ...survivors];
          const targets = rankStates.map((_, rank) => slotSpans(elements, elements, rankStates.length, rank));
          const transfers = planTransfers(rankStates, 4, targets);
          const within = (holdings: readonly Holding[], element: number) =>
            holdings.some(({ start, end }) => start <= element && element < end);
          for (const [to, spans] of targets.entries()) {
            const mine = transfers.filter((transfer) => transfer.to === to);
            const received = mine.reduce((sum, { start, end }) => sum + end - start, 0);
            expect(received).toBe(spans.reduce((sum, { start, end }) => sum + end - start, 0));
            for (const { from, start, end } of mine) {
              expect(spans.some((span) => span.start <= start && end <= span.end)).toBe(true);
              expect(rankStates[from]!.holdings.some((one) => one.start <= start && end <= one.end)).toBe(true);
              if (from !== to) {
                expect(within(rankStates[to]!.holdings, start)).toBe(false);
                expect(within(rankStates[to]!.holdings, end - 1)).toBe(false);
              }
            }
          }
        },
      ),
      { numRuns: 300, seed: 3 },
    );
  });

  it("shares the sending between those who hold the same", () => {
    const holder: RankState = { finishedSteps: 1, waited: 0, holdings: [{ start: 0, end: 4_096, step: 1 }] };
    const newcomer: RankState = { finishedSteps: 0, waited: 0, holdings: [] };
    const wanted = [0, 2_048].map((start) => ({ start, end: start + 1_024 }));
    const transfers = planTransfers([holder, holder, newcomer], 1, [[], [], wanted]);
    expect(transfers).toEqual(wanted.map((span, from) => ({ ...span, from, to: 2 })));
  });

  it("says which element nobody has", () => {
    expect(() => planTransfers([{ finishedSteps: 1, waited: 0, holdings: [] }], 1, [[{ start: 5, end: 6 }]])).toThrow(
      "element 5",
    );
  });
});
