import { createOutcomeRepository } from "../../../adapters/dynamodb/outcome-repository";
import { Table } from "../../../adapters/dynamodb/table";
import { localConfig } from "../../../stack/settings";
import { useEmbedded } from "../../support/embedded";

const at = Date.parse("2026-01-01T00:00:00.000Z");

describe("outcomes in DynamoDB", () => {
  const embedded = useEmbedded();
  let made = 0;

  const table = localConfig().tables.catalog;
  const create = (team = `team-${++made}`) => createOutcomeRepository(new Table(embedded.dynamodb, table), team);
  const outcome = (unit: number, version = 4, value = unit % 2) => ({ unit: `user-${unit}`, version, value });
  const some = (from: number, count: number) => Array.from({ length: count }, (_, i) => outcome(from + i));

  it("counts a unit once, in a request and between requests", async () => {
    const outcomes = create();
    const twice = [outcome(1, 4, 1), outcome(2, 4, 0), outcome(1, 4, 0)];
    expect(await outcomes.report("digits", 7, twice, at)).toEqual({ counted: 2, repeated: 1 });
    expect(await outcomes.report("digits", 7, twice, at)).toEqual({ counted: 0, repeated: 3 });
    expect(await outcomes.report("digits", 7, [outcome(2), outcome(3, 3, 1)], at)).toEqual({ counted: 1, repeated: 1 });
    expect(await outcomes.sums("digits", 7)).toEqual(
      new Map([
        [3, { units: 1, sum: 1, sumOfSquares: 1 }],
        [4, { units: 2, sum: 1, sumOfSquares: 1 }],
      ]),
    );
  });

  it("keeps epochs, models and teams apart", async () => {
    const outcomes = create("red");
    await outcomes.report("digits", 7, [outcome(1)], at);
    for (const other of [
      outcomes.sums("digits", 8),
      outcomes.sums("digits#7", 7),
      outcomes.sums("flights", 7),
      create("blue").sums("digits", 7),
    ]) {
      expect(await other).toEqual(new Map());
    }
  });

  it("counts only the new ones among many existing ones", async () => {
    const outcomes = create();
    expect(await outcomes.report("digits", 1, some(0, 250), at)).toEqual({ counted: 250, repeated: 0 });
    expect(await outcomes.report("digits", 1, some(200, 200), at)).toEqual({ counted: 150, repeated: 50 });
    expect((await outcomes.sums("digits", 1)).get(4)).toEqual({ units: 400, sum: 200, sumOfSquares: 200 });
  });

  it("neither loses nor doubles concurrent reports of the same outcome", async () => {
    const outcomes = create();
    const reports = await Promise.all(
      Array.from({ length: 12 }, (_, i) => outcomes.report("digits", 1, some(10 * i, 60), at)),
    );
    expect(reports.reduce((sum, { counted }) => sum + counted, 0)).toBe(170);
    expect((await outcomes.sums("digits", 1)).get(4)).toEqual({ units: 170, sum: 85, sumOfSquares: 85 });
  });

  it("keeps numbers other than 0 and 1", async () => {
    const outcomes = create();
    await outcomes.report("digits", 1, [outcome(1, 4, 0.1), outcome(2, 4, -2.5), outcome(3, 4, 1e6)], at);
    const sums = (await outcomes.sums("digits", 1)).get(4);
    expect(sums?.sum).toBeCloseTo(999_997.6, 9);
    expect(sums?.sumOfSquares).toBeCloseTo(1e12 + 6.26, 2);
  });
});
