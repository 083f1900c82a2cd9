import { seededRandom } from "../../support/random";
import { rounds } from "../../support/rounds";
import { drawOperations, preparedOperations, testedOperations } from "./check/operations";
import { playRound } from "./check/round";

const seeds = rounds(40, 2_000);

const registration = { id: "first", by: "prepare", kind: "register", version: 0 } as const;

/** People who would promote the canary past its test. */
const impatient = ["i", "j"].map((id) => ({ id, by: "person 1", kind: "promote", version: 4 }) as const);

const refusals: Readonly<Record<string, "late" | "untried">> = {
  ROLLBACK_OVERTAKEN: "late",
  CANARY_UNDER_TEST: "untried",
};

describe("the registry, in any order of processes and deaths", () => {
  it("does each thing once and wholly, in an order that explains every answer, with one champion at every instant", async () => {
    const counts = { done: 0, refused: 0, untried: 0, died: 0, late: 0, deaths: 0, entries: 0, repeats: 0 };
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = seededRandom(seed);
      // One in seven begins with a model that has no champion yet.
      const promoted = seed % 7 === 0 ? [] : preparedOperations(4, "p");
      // And one in four with a canary under test.
      const tested = seed % 4 === 0 && promoted.length > 0 ? testedOperations(4, "t") : [];
      const drawn = drawOperations(random, tested.length > 0 ? 2 : 12, 4, "q");
      const prepared = [registration, ...promoted, ...tested, ...drawn];
      const drawnToo = drawOperations(random, 2 + Math.floor(random() * 14), 4, "o");
      const operations = tested.length > 0 ? [...drawnToo, ...impatient] : drawnToo;
      const dies = [0, 0.01, 0.05][seed % 3]!;
      const { violations, replies, deaths, entries, repeats } = await playRound({
        random,
        prepared,
        operations,
        readers: 2,
        dies,
      });
      expect({ seed, violations }).toEqual({ seed, violations: [] });
      expect(replies).toHaveLength(operations.length);
      for (const { answer } of replies) {
        if (answer === "done" || answer === "died") counts[answer] += 1;
        else counts[refusals[answer] ?? "refused"] += 1;
      }
      counts.deaths += deaths;
      counts.entries += entries;
      counts.repeats += repeats;
    }
    // A check that saw nothing of what it is for has shown nothing.
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(seeds / 20);
  });
});
