import * as fs from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { joinAsOf, type StoredView } from "../../../adapters/duckdb/as-of-join";
import { type DuckDbSession, quoteText } from "../../../adapters/duckdb/session";
import { writeViewFiles } from "../../../adapters/duckdb/view-ingest";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { type ArrivedRow, latestAt, windowAt } from "../../core/feature-store/oracle";
import { viewVersionOf } from "../../core/feature-store/versions";
import { rounds } from "../../support/rounds";
import { temporaryFolder } from "../../support/temporary-folder";

const directory = temporaryFolder("as-of");

const start = Date.parse("2026-01-01T00:00:00.000Z");
const day = 86_400_000;
const iso = (time: number) => new Date(time).toISOString();

interface Row {
  readonly customer: number;
  readonly event: number;
  readonly creation: number | null;
  readonly spend: number | null;
}

/** Few entities and times, so that equal times, late rows and rows of the future are frequent. */
const row = fc.record({
  customer: fc.integer({ min: -1, max: 4 }),
  event: fc.integer({ min: 0, max: 8 }),
  creation: fc.option(fc.integer({ min: 0, max: 10 })),
  spend: fc.option(fc.integer({ min: 0, max: 99 })),
});
const label = fc.record({ customer: fc.option(fc.integer({ min: -2, max: 4 })), at: fc.integer({ min: -1, max: 11 }) });
const hour = 9 * 3_600_000;
const timeOf = (tick: number) => start + tick * hour;

function write(name: string, rows: readonly object[]): string {
  const file = join(directory, name);
  fs.writeFileSync(file, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return file;
}

async function storedFiles(session: DuckDbSession, batches: readonly (readonly Row[])[], withCreation: boolean) {
  const version = viewOf(withCreation, undefined);
  const files: string[] = [];
  for (const [index, rows] of batches.entries()) {
    if (rows.length === 0) continue;
    const source = write(
      "rows.jsonl",
      rows.map(({ event, creation, ...rest }) => ({
        ...{ ...rest, at: iso(timeOf(event)) },
        ...(withCreation ? { known: creation === null ? null : iso(timeOf(creation)) } : {}),
      })),
    );
    const made = await writeViewFiles(session, source, version, { maxRows: 9 });
    for (const [part, { path }] of made.files.entries()) {
      const target = join(directory, `${index}-${part}.parquet`);
      fs.renameSync(path, target);
      files.push(target);
    }
  }
  return files;
}

const viewOf = (withCreation: boolean, ttl: string | undefined, steps: readonly object[] = []) =>
  viewVersionOf({
    ...{ name: "spend", entities: ["customer"], eventTime: "at" },
    ...(withCreation ? { creationTime: "known" } : {}),
    ...(ttl === undefined ? {} : { ttl }),
    columns: {
      ...{ customer: "int", at: "timestamp", spend: "int" },
      ...(withCreation ? { known: "timestamp" as const } : {}),
    },
    steps,
  });

/** Returns the rows as the oracle reads them. */
function arrivedRows(batches: readonly (readonly Row[])[], withCreation: boolean) {
  return batches.flat().map(
    ({ customer, event, creation, spend }, place): ArrivedRow<number | null> => ({
      ...{ entity: customer, eventTime: timeOf(event), value: spend, place },
      creationTime: withCreation && creation !== null ? timeOf(creation) : undefined,
    }),
  );
}

it("joins what brute force finds, with late rows, equal times, missing values, a TTL, windows and steps of them", async () => {
  const steps = [
    { kind: "window", column: "spend", aggregate: "sum", over: "1d", name: "day" },
    { kind: "window", column: "spend", aggregate: "count", over: "18h", name: "count" },
    { kind: "window", column: "spend", aggregate: "maximum", over: "2d", name: "most" },
    { kind: "log", column: "day", offset: 1, name: "log day" },
  ];
  const expectedOf = (
    arrived: readonly ArrivedRow<number | null>[],
    { customer, at }: { readonly customer: number | null; readonly at: number },
    ttlMs: number | undefined,
  ) => {
    const time = timeOf(at);
    const latest = latestAt(arrived, customer, time, ttlMs);
    if (!latest) return { spend: null, day: null, count: null, most: null, log: null };
    const [day1 = [], count = [], most = []] = [24, 18, 48].map((h) =>
      windowAt(arrived, customer, time, h * 3_600_000),
    );
    const sum = day1.length === 0 ? null : day1.reduce((a, b) => a + b, 0);
    return {
      ...{ spend: latest.value, day: sum, count: count.length, most: most.length === 0 ? null : Math.max(...most) },
      log: sum === null ? null : expect.closeTo(Math.log(sum + 1), 9),
    };
  };
  await withDuckDb((session) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(row, { minLength: 4, maxLength: 24 }), { minLength: 1, maxLength: 3 }),
        fc.array(label, { minLength: 30, maxLength: 60 }),
        fc.boolean(),
        fc.constantFrom([undefined, undefined], ["9h", hour], ["2d", 2 * day] as const),
        fc.boolean(),
        async (batches, labels, withCreation, [ttl, ttlMs], withSteps) => {
          const files = await storedFiles(session, batches, withCreation);
          const output = join(directory, "joined.parquet");
          const given = write(
            "labels.jsonl",
            labels.map(({ customer, at }) => ({ customer, at: iso(timeOf(at)) })),
          );
          const version = viewOf(withCreation, ttl, withSteps ? steps : []);
          await joinAsOf(session, {
            ...{ labels: given, time: "at", views: [{ version, fetch: async () => files }], output },
          });
          const windows = withSteps ? `, day, count, most, "log day" AS log` : "";
          const found = await session.rows(
            `SELECT spend::INTEGER AS spend${windows} FROM read_parquet(${quoteText(output)})`,
          );
          const arrived = arrivedRows(batches, withCreation);
          const expected = labels.map((one) => expectedOf(arrived, one, ttlMs));
          expect(found).toEqual(withSteps ? expected : expected.map(({ spend }) => ({ spend })));
        },
      ),
      { numRuns: rounds(12, 280), seed: 7 },
    ),
  );
});

it("keeps the type and the missing values of each feature, and the order of more rows than a chunk has", async () => {
  const version = viewVersionOf({
    ...{ name: "all", entities: ["customer"], eventTime: "at" },
    columns: {
      ...{ customer: "string", at: "timestamp", name: "string", regular: "bool", seen: "timestamp" },
      ...{ spend: "float", visits: "int" },
    },
    steps: [
      { kind: "log", column: "spend", offset: 1, name: "log spend" },
      { kind: "hash", column: "name", buckets: 4, name: "bucket" },
    ],
  });
  await withDuckDb(async (session) => {
    const rows = write("all.jsonl", [
      ...[0, 1].map((tick) => ({
        ...{ customer: "ada", at: iso(timeOf(tick)), name: tick === 0 ? "Ada" : null, regular: tick === 0 },
        ...{ seen: iso(timeOf(tick) + 0.5), spend: tick === 0 ? 0 : null, visits: 2 ** 53 - 1 - tick },
      })),
      { customer: "bob", at: iso(timeOf(0)), name: null, regular: null, seen: null, spend: null, visits: null },
    ]);
    const { files } = await writeViewFiles(session, rows, version);
    const count = 5_000;
    const labels = Array.from({ length: count }, (_, row) => ({
      ...{ row, customer: ["ada", "bob", "eve"][row % 3], at: iso(timeOf([1, 0, -1][row % 2]!)) },
    }));
    const output = join(directory, "all.parquet");
    const stored = { version, fetch: async () => files.map(({ path }) => path) };
    await joinAsOf(session, { labels: write("labels.jsonl", labels), time: "at", views: [stored], output });
    const table = `read_parquet(${quoteText(output)})`;
    const types = await session.rows(`DESCRIBE SELECT * EXCLUDE ("row", customer, "at") FROM ${table}`);
    expect(types.map((one) => `${one["column_name"]} ${one["column_type"]}`)).toEqual([
      ...["name VARCHAR", "regular BOOLEAN", "seen TIMESTAMP", "spend DOUBLE", "visits BIGINT"],
      ...["log spend DOUBLE", "bucket INTEGER"],
    ]);
    const found = await session.rows(
      `SELECT "row"::INTEGER AS "row#", name, regular, epoch_ms(seen)::DOUBLE AS seen, spend, visits::DOUBLE AS visits, "log spend" AS log, bucket
       FROM ${table}`,
    );
    expect(found.map((one) => one["row#"])).toEqual(labels.map(({ row }) => row));
    const none = { name: null, regular: null, seen: null, spend: null, visits: null, log: null };
    const { "row#": _, bucket, ...ada } = found[3]!;
    expect(ada).toEqual({ name: "Ada", regular: true, seen: timeOf(0), spend: 0, visits: 2 ** 53 - 1, log: 0 });
    expect(Number(bucket)).toBeGreaterThanOrEqual(0);
    expect(found[0]).toMatchObject({ ...none, regular: false, seen: timeOf(1), visits: 2 ** 53 - 2, bucket: -1 });
    expect(found[1]).toMatchObject({ ...none, bucket: -1 });
    expect(found[2]).toMatchObject({ ...none, bucket: null });
  });
});

it("gives null where a view has no rows", async () => {
  await withDuckDb(async (session) => {
    const output = join(directory, "none.parquet");
    const labels = write("labels.jsonl", [{ customer: 1, at: iso(timeOf(0)) }]);
    const views = [{ version: viewOf(false, undefined), fetch: async () => [] }];
    expect(await joinAsOf(session, { labels, time: "at", views, output })).toBe(1);
    expect(await session.rows(`SELECT spend FROM read_parquet(${quoteText(output)})`)).toEqual([{ spend: null }]);
  });
});

it("finds the rows of all kinds of entities, with two threads", async () => {
  const customers = [1, -3, 2 ** 40, null];
  const [rowCount, labelCount, ticks] = [700, 700, 140];
  const entityOf = (at: number) => ({
    ...{ customer: customers[at % 4]!, name: at % 3 === 2 ? null : `c,"${at % 3}`, since: iso(timeOf(at % 3)) },
    ...{ regular: at % 2 === 0, small: at % 5 },
  });
  const rows = Array.from({ length: rowCount }, (_, at) => ({
    ...{ ...entityOf(at), at: iso(timeOf(at % ticks)), known: iso(timeOf((at * 7) % ticks)), spend: at },
  }));
  const labels = Array.from({ length: labelCount }, (_, at) => ({
    ...{ ...entityOf(at + Math.floor(at / 7)), when: iso(timeOf((at * 13) % (ticks + 20))) },
  }));
  type Name = keyof ReturnType<typeof entityOf>;
  const columns = { customer: "int", name: "string", since: "timestamp", regular: "bool", small: "int" } as const;
  const views = ([["small"], ["customer"], ["name"], ["since", "regular"], ["small", "name"]] satisfies Name[][]).map(
    (entities: Name[], index) => ({
      entities,
      version: viewVersionOf({
        ...{ name: entities.join("-"), entities, eventTime: "at", ttl: "90d" },
        ...(index % 2 === 0 ? {} : { creationTime: "known" }),
        columns: { ...columns, at: "timestamp", known: "timestamp", spend: "int" },
      }),
    }),
  );
  const keyOf = (entities: Name[], of: Record<Name, unknown>) =>
    entities.some((name) => of[name] === null) ? undefined : JSON.stringify(entities.map((name) => of[name]));
  await withDuckDb(
    async (session) => {
      const stored: StoredView[] = [];
      const expected: (number | null)[][] = [];
      for (const { entities, version } of views) {
        const known = rows.filter((row) => keyOf(entities, row) !== undefined);
        const { files } = await writeViewFiles(session, write("rows.jsonl", known), version);
        const paths = files.map(({ path }) => path.replace(/\.parquet$/, `-${version.name}.parquet`));
        for (const [index, { path }] of files.entries()) fs.renameSync(path, paths[index]!);
        stored.push({ version, fetch: async () => paths });
        const arrived = known.map((row, place) => ({
          ...{ entity: keyOf(entities, row), eventTime: Date.parse(row.at), value: row.spend, place },
          creationTime: version.definition.creationTime === undefined ? undefined : Date.parse(row.known),
        }));
        expected.push(
          labels.map((label) => {
            const key = keyOf(entities, label);
            return key === undefined ? null : (latestAt(arrived, key, Date.parse(label.when), 90 * day)?.value ?? null);
          }),
        );
      }
      const output = join(directory, "entities.parquet");
      const request = { labels: write("entities.jsonl", labels), time: "when", views: stored, fullNames: true, output };
      expect(await joinAsOf(session, request)).toBe(labelCount);
      for (const [index, { version }] of views.entries()) {
        const found = await session.rows(
          `SELECT "${version.name}__spend"::INTEGER AS spend FROM read_parquet(${quoteText(output)})`,
        );
        expect(found.map(({ spend }) => spend)).toEqual(expected[index]);
      }
    },
    { threads: 2 },
  );
});

describe("labels in a Parquet file", () => {
  const columns = `(row % 2)::BIGINT AS customer, TIMESTAMP '2026-01-02' AS "at", row AS file_row_number, -row AS rowid`;

  /** Writes a view with a row of customer 0 and 3,000 labels. */
  async function files(session: DuckDbSession, name: string, label: string, options = "") {
    const [view, labels] = [`${name}-view`, `${name}-labels`].map((file) => join(directory, `${file}.parquet`));
    const row = `0::BIGINT AS customer, TIMESTAMP '2026-01-01' AS "at", 7::BIGINT AS spend`;
    await session.run(`COPY (SELECT ${row}) TO ${quoteText(view!)} (FORMAT parquet)`);
    await session.run(
      `COPY (SELECT ${label} FROM range(3000) AS rows(row))
       TO ${quoteText(labels!)} (FORMAT parquet, COMPRESSION zstd ${options})`,
    );
    const views = [{ version: viewOf(false, undefined), fetch: async () => [view!] }];
    return { labels: labels!, time: "at", views, output: join(directory, `${name}-output.parquet`) };
  }

  it.each([
    ["small row groups", columns.replace("file_row_number", "row"), ", ROW_GROUP_SIZE 2048"],
    ["a column with the name of a row's number", columns, ""],
  ])("are joined in their order: %s", async (name, label, options) => {
    await withDuckDb(async (session) => {
      const join = await files(session, name, label, options);
      expect(await joinAsOf(session, join)).toBe(3_000);
      const found = await session.rows(
        `SELECT (-rowid)::INTEGER AS row, spend FROM read_parquet(${quoteText(join.output)})`,
      );
      const expected = Array.from({ length: 3_000 }, (_, row) => ({ row, spend: row % 2 === 0 ? 7n : null }));
      expect(found).toEqual(expected);
    });
  });

  it("are refused with the row of each column that has an unfit value", async () => {
    await withDuckDb(async (session) => {
      const customer = `CASE row WHEN 2999 THEN 'x' WHEN 5 THEN NULL ELSE '1' END AS customer`;
      const join = await files(session, "unfit", `${customer}, CASE WHEN row < 2500 THEN '2026-01-02' END AS "at"`);
      await expect(joinAsOf(session, join)).rejects.toMatchObject({
        details: {
          problems: [
            { path: "column at, row 2501", rule: "must be a date or time in ISO 8601, and not missing" },
            { path: "column customer, row 3000", value: "x", rule: "must be of type int" },
          ],
        },
      });
    });
  });

  it("are refused if a column is damaged that only the output has", async () => {
    await withDuckDb(async (session) => {
      const join = await files(
        session,
        "damaged",
        `1::BIGINT AS customer, TIMESTAMP '2026-01-02' AS "at", repeat(hash(row)::VARCHAR, 3) AS note`,
      );
      const bytes = fs.readFileSync(join.labels);
      const [place] = await session.rows(
        `SELECT data_page_offset::DOUBLE AS "page#" FROM parquet_metadata(${quoteText(join.labels)}) WHERE path_in_schema = 'note'`,
      );
      // After the header of the page.
      bytes.fill(0xff, Number(place!["page#"]) + 64, Number(place!["page#"]) + 1_000);
      fs.writeFileSync(join.labels, bytes);
      await expect(joinAsOf(session, join)).rejects.toThrow(/damaged-labels\.parquet cannot be read/);
    });
  });

  it("are those that the file had at the beginning if it changes during the join", async () => {
    await withDuckDb(async (session) => {
      const join = await files(session, "changed", `1::BIGINT AS customer, TIMESTAMP '2026-01-02' AS "at"`);
      const views = join.views.map(
        (view): StoredView => ({
          ...view,
          fetch: () => {
            fs.writeFileSync(join.labels, "");
            return view.fetch();
          },
        }),
      );
      expect(await joinAsOf(session, { ...join, views })).toBe(3_000);
    });
  });
});
