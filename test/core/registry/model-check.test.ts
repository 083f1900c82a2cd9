import { seededRandom } from "../../../bench/elastic/random";
import { drawOperations, preparedOperations } from "./check/operations";
import { playRound } from "./check/round";

const rounds = Number(process.env["RINGMASTER_MODEL_CHECK_ROUNDS"] ?? 200);

const registration = { id: "first", by: "prepare", kind: "register", version: 0 } as const;

describe("the registry, whoever is first and whoever dies", () => {
  it("does each thing once and wholly, in an order that explains every answer, with one champion at every instant", async () => {
    const counts = { done: 0, refused: 0, died: 0, overtaken: 0, deaths: 0, entries: 0, repeats: 0 };
    for (let seed = 1; seed <= rounds; seed += 1) {
      const random = seededRandom(seed);
      // One in seven begins with a model that has no champion yet.
      const promoted = seed % 7 === 0 ? [] : preparedOperations(4, "p");
      const prepared = [registration, ...promoted, ...drawOperations(random, 12, 4, "q")];
      const operations = drawOperations(random, 2 + Math.floor(random() * 14), 4, "o");
      const dies = [0, 0.01, 0.05][seed % 3]!;
      const { violations, told, deaths, entries, repeats } = await playRound({
        random,
        prepared,
        operations,
        readers: 2,
        dies,
      });
      expect({ seed, violations }).toEqual({ seed, violations: [] });
      expect(told).toHaveLength(operations.length);
      for (const { answer } of told) {
        if (answer === "done" || answer === "died") counts[answer] += 1;
        else counts[answer === "ROLLBACK_OVERTAKEN" ? "overtaken" : "refused"] += 1;
      }
      counts.deaths += deaths;
      counts.entries += entries;
      counts.repeats += repeats;
    }
    // A check that saw nothing of what it is for has shown nothing.
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(rounds / 20);
  });
});
