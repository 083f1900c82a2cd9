import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPredictionLog, timeOfPredictions } from "../../cli/prediction-log";
import type { ApiClient } from "../../client/api-client";
import type { LoggedRow } from "../../core/drift/shapes";
import type { FeatureTransform } from "../../core/features/shapes";

const transform: FeatureTransform = {
  outputs: [{ kind: "numeric", column: "x", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 }],
  width: 1,
  shape: [1],
};
const customer = { entities: [{ name: "customer", type: "int" }] } as const;
const time = Date.parse("2026-01-01T00:00:00.000Z");

/** Logs rows, and returns the batches that were sent. */
async function sent(
  rows: readonly Readonly<Record<string, unknown>>[],
  options: { readonly unit?: string; readonly views?: readonly (typeof customer)[] } = {},
) {
  const batches: (readonly LoggedRow[])[] = [];
  const call = async (_name: string, request: { readonly body: { readonly rows: readonly LoggedRow[] } }) => {
    batches.push(request.body.rows);
    return { stored: request.body.rows.length, repeated: false, rate: 1 };
  };
  const client = { call } as unknown as Pick<ApiClient, "call">;
  const target = { client, model: "m", version: 1, artifact: { transform }, views: options.views ?? [] };
  const log = openPredictionLog(target, options.unit, time);
  try {
    log.add(
      rows,
      rows.map(() => ({ value: 1 })),
    );
    return { batches, answer: await log.send() };
  } finally {
    log.dispose();
  }
}

describe("the log of predictions", () => {
  it("has the columns that the model reads, a unit, and a time for each row", async () => {
    const rows = [
      { x: 1, customer: 7 },
      { x: 2, customer: null },
    ];
    const { batches, answer } = await sent(rows, { views: [customer] });
    expect(batches).toEqual([
      [
        { unit: "customer=7", at: "2026-01-01T00:00:00.000Z", row: { x: 1 }, prediction: 1 },
        { unit: expect.stringMatching(/^[0-9a-f]{64}$/), at: "2025-12-31T23:59:59.999Z", row: { x: 2 }, prediction: 1 },
      ],
    ]);
    expect(answer).toEqual({ stored: 2, known: 0 });
    expect(await sent(rows, { views: [customer] })).toEqual({ batches, answer });
  });

  it("takes the unit of a column, which each row must have", async () => {
    const { batches } = await sent([{ x: 1, user: "ada" }], { unit: "user" });
    expect(batches[0]![0]!.unit).toBe("ada");
    await expect(sent([{ x: 1 }, { x: 1, user: null }], { unit: "user" })).rejects.toThrow(
      "row 1.user must be a text or a number where --unit names the column",
    );
  });

  it("is sent in batches of 1,000 rows, or of less than two million characters", async () => {
    const sizes = async (rows: readonly object[]) =>
      (await sent(rows as Record<string, unknown>[])).batches.map((batch) => batch.length);
    expect(await sizes(Array.from({ length: 2_001 }, (_, x) => ({ x })))).toEqual([1_000, 1_000, 1]);
    expect(await sizes(Array.from({ length: 5 }, () => ({ x: "a".repeat(900_000) })))).toEqual([2, 2, 1]);
  });

  it("has the time that is given, of the file, or of the day", () => {
    const directory = mkdtempSync(join(tmpdir(), "log-"));
    const file = join(directory, "rows.csv");
    writeFileSync(file, "x\n1\n");
    utimesSync(file, time / 1_000, time / 1_000);
    expect(timeOfPredictions({ file })).toBe(time);
    rmSync(directory, { recursive: true });
    expect(timeOfPredictions({ file, at: "2026-01-02T00:00:00Z" })).toBe(time + 86_400_000);
    expect(timeOfPredictions({}) % 86_400_000).toBe(0);
    expect(() => timeOfPredictions({ at: "noon" })).toThrow("--at");
  });
});
