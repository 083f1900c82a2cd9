import fc from "fast-check";
import { InvalidInputError } from "../../../../core/errors";
import { changesKeptMs } from "../../../../core/tracking/run-records";
import { createRunSearches } from "../../../../core/tracking/search/run-search";
import { rounds, seedOf } from "../../../support/rounds";
import { filterArbitrary, orderArbitrary, runArbitrary } from "./arbitraries";
import { MemoryRuns } from "./memory-runs";
import { naiveSearch } from "./naive";
import { metricsOf, queryOf, runOf } from "./runs";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function searchOver(runs: MemoryRuns, most?: number) {
  const search = createRunSearches(most).of("default", runs);
  return async (query: Parameters<typeof queryOf>[0] = {}): Promise<readonly string[]> => {
    const { runs: found } = await search.search(queryOf({ experimentIds: ["1"], ...query }));
    return found.map(({ record }) => record.runId);
  };
}

describe("a search", () => {
  it("loads an experiment once, and then reads what changed", async () => {
    const runs = new MemoryRuns();
    for (let i = 0; i < 620; i++) runs.put(runOf(`run-${i}`, { startedAt: i }), metricsOf({ loss: i }));
    runs.settle();
    runs.wait(120_000);
    const search = searchOver(runs);
    expect(await search({ filter: "metrics.loss < 2" })).toEqual(["run-1", "run-0"]);
    expect(runs.requested).toEqual(["list 1", "since 1"]);
    runs.put(runOf("run-7"), metricsOf({ loss: -1 }));
    expect(await search({ filter: "metrics.loss < 0" })).toEqual(["run-7"]);
    expect(runs.requested.slice(2)).toEqual(["since 1", "findMany 1"]);
    // Later nothing is read but that nothing changed.
    runs.wait(10_000);
    await search();
    runs.wait(10_000);
    runs.requested.length = 0;
    await search();
    expect(runs.requested).toEqual(["since 1"]);
  });

  it("sees what the list does not have yet, and what is not there any more", async () => {
    const runs = new MemoryRuns();
    runs.put(runOf("old"));
    runs.settle();
    runs.wait(40_000);
    runs.put(runOf("new"));
    runs.put(runOf("old", { name: "renamed" }));
    const search = searchOver(runs);
    expect(await search({ orderBy: ["run_id"] })).toEqual(["new", "old"]);
    expect(await search({ filter: "name = 'renamed'" })).toEqual(["old"]);
    runs.forget("old");
    expect(await search()).toEqual(["new"]);
  });

  it.each([-4_900, 4_900])("sees marks of a clock that is %i ms off", async (skew) => {
    const runs = new MemoryRuns();
    const search = searchOver(runs);
    expect(await search()).toEqual([]);
    runs.wait(7);
    runs.put(runOf("a"), undefined, skew);
    expect(await search()).toEqual(["a"]);
    runs.put(runOf("a", { name: "again" }), undefined, skew);
    expect(await search({ filter: "name = 'again'" })).toEqual(["a"]);
  });

  it("sees a change in a second whose mark it has seen", async () => {
    const runs = new MemoryRuns();
    const search = searchOver(runs);
    runs.put(runOf("a"));
    expect(await search({ filter: "metrics.loss = 1" })).toEqual([]);
    // Stored, and not marked again: that very mark is there.
    runs.put(runOf("a"), metricsOf({ loss: 1 }));
    runs.wait(900);
    expect(await search({ filter: "metrics.loss = 1" })).toEqual(["a"]);
  });

  it("loads again if its last refresh is older than the marks", async () => {
    const runs = new MemoryRuns();
    const search = searchOver(runs);
    runs.put(runOf("a"));
    runs.settle();
    expect(await search()).toEqual(["a"]);
    runs.put(runOf("b"));
    runs.settle();
    runs.wait(changesKeptMs);
    runs.requested.length = 0;
    expect(await search({ orderBy: ["run_id"] })).toEqual(["a", "b"]);
    expect(runs.requested).toEqual(["list 1", "since 1"]);
  });

  it("follows a run from one lifecycle to the other", async () => {
    const runs = new MemoryRuns();
    const search = searchOver(runs);
    runs.put(runOf("a"));
    expect(await search()).toEqual(["a"]);
    runs.put(runOf("a", { lifecycle: "deleted" }));
    expect(await search()).toEqual([]);
    expect(await search({ view: "deleted" })).toEqual(["a"]);
    runs.put(runOf("a"));
    expect(await search()).toEqual(["a"]);
  });

  it("goes through the experiments that it names, or all", async () => {
    const runs = new MemoryRuns();
    runs.put(runOf("a", { startedAt: 3 }));
    runs.put(runOf("b", { startedAt: 2, experimentId: "2" }));
    runs.put(runOf("c", { startedAt: 1 }));
    const search = searchOver(runs);
    expect(await search()).toEqual(["a", "c"]);
    expect(await search({ experimentIds: ["2"] })).toEqual(["b"]);
    expect(await search({ experimentIds: ["2", "1", "2"] })).toEqual(["a", "b", "c"]);
    expect(await search({ experimentIds: [] })).toEqual(["a", "b", "c"]);
    expect(await search({ experimentIds: [], filter: "experiment = 'experiment 2'" })).toEqual(["b"]);
    expect(await search({ experimentIds: ["7"] })).toEqual([]);
  });

  it("shares refreshes, and never one that began before it", async () => {
    const runs = new MemoryRuns();
    const search = searchOver(runs);
    await search();
    runs.wait(20_000);
    runs.requested.length = 0;
    runs.pause = tick;
    const early = search();
    await Promise.resolve();
    // The first has read its marks by now; this one is acknowledged before the others begin.
    runs.put(runOf("late"));
    const later = [search(), search(), search()];
    expect(await early).toEqual([]);
    for (const one of later) expect(await one).toEqual(["late"]);
    expect(runs.requested).toEqual(["since 1", "since 1", "findMany 1"]);
  });

  it("tries again after a read has failed", async () => {
    const runs = new MemoryRuns();
    const search = searchOver(runs);
    runs.put(runOf("a"));
    runs.pause = () => Promise.reject(new Error("throttled"));
    const failed = search();
    const waiting = search();
    await expect(failed).rejects.toThrow("throttled");
    await expect(waiting).rejects.toThrow("throttled");
    runs.pause = tick;
    expect(await search()).toEqual(["a"]);
  });

  it("keeps the experiments lately used, as many as may be in memory", async () => {
    const runs = new MemoryRuns(["1", "2", "3"]);
    for (const experimentId of ["1", "2", "3"]) {
      for (let i = 0; i < 4; i++) runs.put(runOf(`${experimentId}-${i}`, { experimentId }));
    }
    runs.settle();
    const search = searchOver(runs, 8);
    for (const experimentId of ["1", "2", "1", "3", "1", "2"]) {
      expect(await search({ experimentIds: [experimentId] })).toHaveLength(4);
    }
    expect(runs.requested.filter((one) => one.startsWith("list"))).toEqual(["list 1", "list 2", "list 3", "list 2"]);
    // One that is larger than all may be is kept while it is used.
    const large = searchOver(runs, 2);
    expect(await large({ experimentIds: [] })).toHaveLength(12);
  });

  it.each([0, -1, 1.5, Number.NaN])("has no limit of %d", async (limit) => {
    await expect(searchOver(new MemoryRuns())({ limit })).rejects.toThrow(InvalidInputError);
  });

  it("keeps teams apart", async () => {
    const searches = createRunSearches();
    const [ours, theirs] = [new MemoryRuns(), new MemoryRuns()];
    ours.put(runOf("ours"));
    theirs.put(runOf("theirs"));
    const ask = (team: string, runs: MemoryRuns) => searches.of(team, runs).search(queryOf({ experimentIds: ["1"] }));
    expect((await ask("a", ours)).runs.map(({ record }) => record.runId)).toEqual(["ours"]);
    expect((await ask("b", theirs)).runs.map(({ record }) => record.runId)).toEqual(["theirs"]);
    // A second request of a team finds the existing index.
    expect((await ask("a", ours)).runs.map(({ record }) => record.runId)).toEqual(["ours"]);
    expect(ours.requested.filter((one) => one === "list 1")).toHaveLength(1);
  });
});

describe("after any changes", () => {
  const idOf = fc.integer({ min: 0, max: 11 }).map((id) => `run-${id}`);
  const change = fc.oneof(
    { weight: 6, arbitrary: runArbitrary(idOf).map((put) => ({ put })) },
    { weight: 1, arbitrary: idOf.map((forget) => ({ forget })) },
    { weight: 1, arbitrary: fc.constant({ settle: true as const }) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 20_000 }).map((wait) => ({ wait })) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 60_000, max: 2 * changesKeptMs }).map((wait) => ({ wait, settle: true as const })),
    },
    {
      weight: 4,
      arbitrary: fc.tuple(filterArbitrary, orderArbitrary).map(([filter, orderBy]) => ({ filter, orderBy })),
    },
  );

  it("a search finds what a naive one finds in all that is stored", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const runs = new MemoryRuns();
        const search = searchOver(runs);
        let unsettled = 0;
        for (const one of [...changes, { filter: "", orderBy: [] }]) {
          if ("put" in one) runs.put(one.put.record, one.put.metrics);
          else if ("forget" in one && runs.all().some(({ record }) => record.runId === one.forget))
            runs.forget(one.forget);
          else if ("filter" in one) {
            const query = queryOf({ filter: one.filter, orderBy: one.orderBy, experimentIds: ["1"] });
            expect(await search(query)).toEqual(naiveSearch(runs.all(), query));
          }
          // The list is never behind by more than it may be.
          const waited = "wait" in one ? one.wait : 0;
          unsettled += waited;
          if ("settle" in one || unsettled > 50_000) {
            runs.settle();
            unsettled = 0;
          }
          runs.wait(waited);
        }
      }),
      { seed: seedOf(30), numRuns: rounds(60, 1_000) },
    );
  });

  it("pages hold every run that was there throughout, once, while others come and go", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(runArbitrary(idOf), { minLength: 3, maxLength: 12 }),
        fc.array(runArbitrary(fc.integer({ min: 0, max: 9 }).map((id) => `other-${id}`)), { maxLength: 30 }),
        orderArbitrary,
        async (steady, others, orderBy) => {
          const runs = new MemoryRuns();
          for (const { record, metrics } of steady) runs.put({ ...record, lifecycle: "active" }, metrics);
          const ids = new Set(steady.map(({ record }) => record.runId));
          const search = createRunSearches().of("default", runs);
          const seen: string[] = [];
          let pageToken: string | undefined;
          do {
            const query = queryOf({ experimentIds: ["1"], orderBy, limit: 2, ...(pageToken ? { pageToken } : {}) });
            const page = await search.search(query);
            seen.push(...page.runs.map(({ record }) => record.runId));
            pageToken = page.nextToken;
            const next = others.pop();
            // Each comes once: one that changed its place might well be met twice.
            if (next && !runs.all().some(({ record }) => record.runId === next.record.runId))
              runs.put(next.record, next.metrics);
            const gone = runs.all().find(({ record }) => !ids.has(record.runId) && record.startedAt === 1);
            if (gone) runs.forget(gone.record.runId);
            runs.wait(700);
          } while (pageToken !== undefined);
          expect(seen.filter((id) => ids.has(id)).sort()).toEqual([...ids].sort());
        },
      ),
      { seed: seedOf(31), numRuns: rounds(40, 1_000) },
    );
  });
});
