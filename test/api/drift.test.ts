import { inferenceWindow } from "../../core/drift/inference-log";
import { callApp, useTestApp } from "../support/app";

const by = { by: "test", at: "2026-01-01T00:00:00.000Z" };

describe("inferences through the API", () => {
  const { platform, app } = useTestApp();
  beforeAll(async () => {
    for (const version of [1, 2]) {
      const made = { model: "toys", source: `s3://models/${version}`, metrics: {}, submittedBy: "ada" };
      await platform.registry.register(platform.team, made, by, { request: `make-${version}` });
    }
  });

  const call = (method: string, path: string, body?: unknown) => callApp(app, method, path, body);
  const now = Date.parse("2026-01-01T12:00:00.000Z");
  const rowsFrom = (first: number, count: number, daysAgo = 1) =>
    Array.from({ length: count }, (_row, i) => ({
      unit: `user-${first + i}`,
      at: new Date(now - daysAgo * 86_400_000 + (first + i) * 1_000).toISOString(),
      row: { x: first + i, __proto__x: null, patch: [[1], [2]] },
      prediction: i % 2 === 0 ? "cat" : "dog",
      ...(i === 0 ? { label: "cat" } : {}),
    }));
  const log = (rows: readonly object[], version = 1) => call("POST", "/models/toys/inferences", { version, rows });
  const listed = async (version = 1) => (await call("GET", `/models/toys/versions/${version}/inferences`)).body;

  it("are stored once, whichever order and number of requests brings them", async () => {
    const [one, other] = [rowsFrom(0, 30), rowsFrom(30, 20)];
    const answers = await Promise.all([log(one), log(other), log(one), log(other), log(one)]);
    expect(answers.map(({ status, body }) => [status, body.stored, body.rate])).toEqual([
      ...[one, other, one, other, one].map(({ length }) => [200, length, 1]),
    ]);
    expect(answers.filter(({ body }) => !body.repeated)).toHaveLength(2);
    expect((await log(one)).body).toEqual({ stored: 30, repeated: true, rate: 1 });
    expect(await listed(2)).toEqual({ totals: { batches: 0, rows: 0 }, batches: [] });
    const { totals, batches } = await listed();
    expect(totals).toEqual({ batches: 2, rows: 50 });
    expect(batches.map((batch: { sequence: number }) => batch.sequence)).toEqual([1, 2]);
    expect(batches[1].before).toBe(batches[0].rows);

    // A row that is in two batches counts once.
    await log([...one.slice(0, 5), ...rowsFrom(50, 1)]);
    const all = (await listed()).batches;
    const rows = [];
    for await (const some of inferenceWindow(platform.objects, all).open()) rows.push(...some);
    expect(rows.map(({ row }) => row["x"]).sort((a, b) => Number(a) - Number(b))).toEqual([...Array(51).keys()]);
    expect(rows.find(({ row }) => row["x"] === 0)).toMatchObject({ prediction: "cat", label: "cat", row: { patch: [[1], [2]] } }); // biome-ignore format: a row
    const kept: unknown[] = [];
    for await (const some of inferenceWindow(platform.objects, all, { rate: 0.5 }).open()) kept.push(...some);
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.length).toBeLessThan(41);
  });

  it("are all measured if one unit has many of one time, and once if batches overlap", async () => {
    const row = (x: number, more = {}) => ({
      unit: "store-1",
      at: rowsFrom(0, 1)[0]!.at,
      row: { x },
      prediction: 1,
      ...more,
    });
    const many = Array.from({ length: 40 }, (_row, i) => row(i % 25));
    await log(many, 2);
    // The other column is missing in the rows of the first batch.
    await log([...many.slice(10), row(99, { row: { other: 1, x: 99 } })].reverse(), 2);
    await log([row(3, { label: 1 }), row(3, { prediction: 0 })], 2);
    const rows = [];
    for await (const some of inferenceWindow(platform.objects, (await listed(2)).batches).open()) rows.push(...some);
    expect(rows.map(({ row, prediction }) => [row["x"], prediction])).toEqual([
      ...many.map(({ row, prediction }) => [row.x, prediction]),
      ...[[99, 1], [3, 0]], // biome-ignore format: pairs
    ]);
  });

  it.each([
    ["a version that does not exist", { version: 9, rows: rowsFrom(0, 1) }, 404, "MODEL_VERSION_NOT_FOUND", ""],
    ["a row of last year", { version: 1, rows: rowsFrom(0, 1, 365) }, 400, "INVALID_INPUT", "in the last 30 days"],
    ["no rows", { version: 1, rows: [] }, 400, "INVALID_INPUT", "rows"],
    ["a time that is none", { version: 1, rows: [{ ...rowsFrom(0, 1)[0], at: "noon" }] }, 400, "INVALID_INPUT", "at"],
    [
      "a row without a unit",
      { version: 1, rows: [{ at: by.at, row: {}, prediction: 1 }] },
      400,
      "INVALID_INPUT",
      "unit",
    ],
  ])("are refused with %s", async (_case, body, status, code, text) => {
    const answer = await call("POST", "/models/toys/inferences", body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(JSON.stringify(answer.body)).toContain(text);
  });
});
